//! Options of a mount: its source, mount point, read buffer, timeouts, and layout of new files.

use std::path::PathBuf;

use serde::Deserialize;

/// The request that the program reads from its standard input, as JSON.
#[derive(Debug, Deserialize)]
pub struct Options {
    /// The file system, such as `hdfs://namenode:8020`.
    pub filesystem: String,
    /// The absolute path of the directory in it.
    pub path: String,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Bytes of the read buffer of each open file.
    pub rdbuffer: usize,
    /// Seconds for which the kernel keeps attributes.
    pub attribute_timeout: f64,
    /// Seconds for which the kernel keeps names.
    pub entry_timeout: f64,
    /// Most bytes of a read request of the kernel; without it, the most that the kernel allows.
    pub max_read: Option<u32>,
    /// Whether files can be made, appended to and removed.
    pub writable: bool,
    /// Replicas of new files; without it, as many as the `NameNode` has for a default.
    pub replication: Option<u32>,
    /// Bytes of a block of new files; without it, the `NameNode`'s default.
    pub block_size: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read() {
        let text = r#"{"filesystem": "hdfs://h:8020", "path": "/", "point": "/mnt",
            "rdbuffer": 65536, "attribute_timeout": 60, "entry_timeout": 0.5, "max_read": null,
            "writable": true, "replication": 2, "block_size": null}"#;
        let found: Options = serde_json::from_str(text).unwrap();
        assert_eq!((found.rdbuffer, found.max_read), (65536, None));
        assert_eq!((found.replication, found.block_size), (Some(2), None));
    }
}
