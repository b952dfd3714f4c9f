//! Serves a directory of HDFS as a file system until it is unmounted.
//!
//! `iostudy mount` starts it. It prints a line before it reads its request from standard input, from
//! when on its command line identifies it, and another one when it serves. Its only other output is
//! the reason of a failure. Warnings of the client go to standard error.

mod attributes;
mod file_inode;
mod filesystem;
mod growing_files;
mod inodes;
mod listing;
mod open_file;
mod operations;
mod options;
mod reader;
mod settings;
mod statistics;
mod written_file;

use std::io::{self, Write};
use std::process::ExitCode;

use fuser::{Config, MountOption, Session};
use hdfs_native::{Client, ClientBuilder, HdfsError};
use log::LevelFilter;
use tokio::runtime::Runtime;

use crate::filesystem::HdfsFilesystem;
use crate::options::Options;

fn main() -> ExitCode {
    env_logger::Builder::new()
        .filter_level(LevelFilter::Warn)
        .filter_module("fuser", LevelFilter::Error) // it warns of each operation without a method
        .init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // Nobody reads it if standard output is closed.
            let _ = writeln!(io::stdout(), "{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    say("started")?;
    let options: Options = serde_json::from_reader(io::stdin())?;
    let runtime = Runtime::new()?;
    let client = ClientBuilder::new()
        .with_url(&options.filesystem)
        .with_io_runtime(runtime.handle().clone())
        .build()?;
    runtime.block_on(require_directory(&client, &options.path))?;
    let filesystem = HdfsFilesystem::new(client, &options, runtime.handle().clone());
    let session = Session::new(filesystem, &options.point, &config(&options))?.spawn()?;
    say("serving")?;
    Ok(session.join()?)
}

/// Fail unless the path is a directory that this user can list.
async fn require_directory(client: &Client, path: &str) -> Result<(), HdfsError> {
    if !client.get_file_info(path).await?.isdir {
        return Err(HdfsError::InvalidPath(format!("{path} is a file")));
    }
    let first = client.list_status_iter(path, false).next().await;
    first.transpose().map(drop)
}

fn config(options: &Options) -> Config {
    let mut config = Config::default();
    let source = format!("{}{}", options.filesystem, options.path);
    config.mount_options = vec![
        MountOption::FSName(source),
        if options.writable {
            MountOption::RW
        } else {
            MountOption::RO
        },
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::NoAtime,
    ];
    if let Some(bytes) = options.max_read {
        let option = MountOption::CUSTOM(format!("max_read={bytes}"));
        config.mount_options.push(option);
    }
    config
}

fn say(word: &str) -> io::Result<()> {
    let mut output = io::stdout();
    writeln!(output, "{word}")?;
    output.flush()
}
