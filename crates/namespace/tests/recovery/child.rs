//! Child process that serves a namespace and prints each acknowledged transaction.

use std::env;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use iostudy_namespace::{Error, LogOptions, Namespace, SyncPolicy, WaitTimes};
use rustix::io::ioctl_fionread;

use crate::history::{PATIENCE, append, log};

const REQUEST_VARIABLE: &str = "IOSTUDY_NAMESPACE_CHILD";
/// Number of transactions in flight.
pub(crate) const MAX_IN_FLIGHT: u64 = 64;
/// Checkpoint interval in transactions.
const CHECKPOINT_EVERY: u64 = 777;

/// Start a child that continues after transaction `begin - 1`.
pub(crate) struct Serving {
    child: Child,
    out: ChildStdout,
    begin: u64,
    acknowledged: Vec<u8>,
}

impl Serving {
    pub(crate) fn start(log: &LogOptions, last: u64) -> Self {
        let sync = match log.sync {
            SyncPolicy::Fdatasync => "fdatasync",
            SyncPolicy::Dsync => "dsync",
            SyncPolicy::None => "none",
        };
        let named: Vec<_> = log.directories.iter().map(|own| own.to_str()).collect();
        let named = named.into_iter().collect::<Option<Vec<_>>>().unwrap();
        let request = format!("{last}:{sync}:{}:{}", log.preallocate, named.join(","));
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["child::child", "--exact", "--nocapture", "--quiet"])
            .env(REQUEST_VARIABLE, request)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        Self {
            child,
            out,
            begin: last + 1,
            acknowledged: Vec::new(),
        }
    }

    /// Wait until the child has printed this many transactions.
    pub(crate) fn wait_for(&mut self, transactions: u64) {
        let mut piece = [0; 4096];
        while self.count() < transactions {
            let read = self.out.read(&mut piece).unwrap();
            assert!(read > 0, "the child ended by itself");
            self.acknowledged.extend_from_slice(&piece[..read]);
        }
    }

    /// Kill the child. Return the last transaction that it printed.
    pub(crate) fn kill(mut self) -> u64 {
        self.child.kill().unwrap();
        self.end()
    }

    /// Last transaction that the child has printed so far.
    pub(crate) fn acknowledged(&mut self) -> u64 {
        let waiting = ioctl_fionread(&self.out).unwrap();
        let mut piece = vec![0; usize::try_from(waiting).unwrap()];
        self.out.read_exact(&mut piece).unwrap();
        self.acknowledged.extend_from_slice(&piece);
        self.last()
    }

    /// Wait until the child has exited. Return the last transaction that it printed.
    pub(crate) fn end(mut self) -> u64 {
        self.out.read_to_end(&mut self.acknowledged).unwrap();
        self.child.wait().unwrap();
        self.last()
    }

    fn last(&self) -> u64 {
        self.begin - 1 + self.count()
    }

    /// Number of printed transactions; the test harness prints a few lines before.
    fn count(&self) -> u64 {
        let first = self.begin.to_le_bytes();
        match self
            .acknowledged
            .windows(8)
            .position(|window| window == first)
        {
            Some(at) => ((self.acknowledged.len() - at) / 8) as u64,
            None => 0,
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok(); // also after a failed test
        self.child.wait().ok();
    }
}

/// Main function of the child. It ends when its log has failed.
#[test]
fn child() {
    if let Ok(request) = env::var(REQUEST_VARIABLE) {
        let (log, last) = parse(&request);
        serve(log, last).unwrap_err();
        std::process::exit(0); // before the harness prints more
    }
}

fn parse(request: &str) -> (LogOptions, u64) {
    let [last, sync, preallocate, directories] = *request.split(':').collect::<Vec<_>>() else {
        panic!("invalid request of a child: {request}");
    };
    let sync = match sync {
        "fdatasync" => SyncPolicy::Fdatasync,
        "dsync" => SyncPolicy::Dsync,
        _ => SyncPolicy::None,
    };
    let directories = directories.split(',').map(|own| Path::new(own).to_owned());
    let request = LogOptions {
        sync,
        preallocate: preallocate.parse().unwrap(),
        ..log(directories.collect::<Vec<PathBuf>>())
    };
    (request, last.parse().unwrap())
}

/// Continue the log until it fails.
fn serve(log: LogOptions, last: u64) -> Result<(), Error> {
    let namespace = if last == 0 {
        Namespace::format(log)?
    } else {
        Namespace::open(log)?.0
    };
    let (mut acknowledged, mut wait_times) = (last, WaitTimes::default());
    let mut out = std::io::stdout().lock();
    for number in last + 1.. {
        append(&namespace, number, &mut wait_times);
        if number % CHECKPOINT_EVERY == 0 {
            namespace.checkpoint()?;
        }
        let at_least = number.saturating_sub(MAX_IN_FLIGHT);
        let durable = namespace.wait_for(at_least, PATIENCE, &mut wait_times)?;
        while acknowledged < durable {
            acknowledged += 1;
            out.write_all(&acknowledged.to_le_bytes()).unwrap();
        }
    }
    Ok(())
}
