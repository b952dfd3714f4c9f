//! Options of a mount: its source, mount point, read buffer and timeouts.

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read() {
        let text = r#"{"filesystem": "hdfs://h:8020", "path": "/", "point": "/mnt",
            "rdbuffer": 65536, "attribute_timeout": 60, "entry_timeout": 0.5, "max_read": null}"#;
        let found: Options = serde_json::from_str(text).unwrap();
        assert_eq!((found.rdbuffer, found.max_read), (65536, None));
    }
}
