//! A process that serves a namespace, and tells each transaction once it is acknowledged.

use std::env;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use iostudy_namespace::{Error, Log, Namespace, Sync, Waits};
use rustix::io::ioctl_fionread;

use crate::history::{PATIENCE, append, log};

const ASKED: &str = "IOSTUDY_NAMESPACE_CHILD";
/// So many transactions are under way.
pub(crate) const AT_ONCE: u64 = 64;
/// An image is written whenever so many have come.
const CHECKPOINT_EVERY: u64 = 777;

/// One that goes on from the transaction `begin - 1`.
pub(crate) struct Serving {
    child: Child,
    out: ChildStdout,
    begin: u64,
    told: Vec<u8>,
}

impl Serving {
    pub(crate) fn start(log: &Log, last: u64) -> Self {
        let sync = match log.sync {
            Sync::Fdatasync => "fdatasync",
            Sync::Dsync => "dsync",
            Sync::None => "none",
        };
        let named: Vec<_> = log.directories.iter().map(|own| own.to_str()).collect();
        let named = named.into_iter().collect::<Option<Vec<_>>>().unwrap();
        let asked = format!("{last}:{sync}:{}:{}", log.preallocate, named.join(","));
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["child::child", "--exact", "--nocapture", "--quiet"])
            .env(ASKED, asked)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        Self {
            child,
            out,
            begin: last + 1,
            told: Vec::new(),
        }
    }

    /// Wait until it has told so many.
    pub(crate) fn wait_for(&mut self, transactions: u64) {
        let mut piece = [0; 4096];
        while self.count() < transactions {
            let read = self.out.read(&mut piece).unwrap();
            assert!(read > 0, "the child ended by itself");
            self.told.extend_from_slice(&piece[..read]);
        }
    }

    /// Kill it; the last transaction that it has told.
    pub(crate) fn kill(mut self) -> u64 {
        self.child.kill().unwrap();
        self.end()
    }

    /// The last transaction that it has told by now; it goes on.
    pub(crate) fn told(&mut self) -> u64 {
        let waiting = ioctl_fionread(&self.out).unwrap();
        let mut piece = vec![0; usize::try_from(waiting).unwrap()];
        self.out.read_exact(&mut piece).unwrap();
        self.told.extend_from_slice(&piece);
        self.last()
    }

    /// Wait until it has ended by itself; the last transaction that it has told.
    pub(crate) fn end(mut self) -> u64 {
        self.out.read_to_end(&mut self.told).unwrap();
        self.child.wait().unwrap();
        self.last()
    }

    fn last(&self) -> u64 {
        self.begin - 1 + self.count()
    }

    /// How many it has told; the test harness prints a few lines before.
    fn count(&self) -> u64 {
        let first = self.begin.to_le_bytes();
        match self.told.windows(8).position(|window| window == first) {
            Some(at) => ((self.told.len() - at) / 8) as u64,
            None => 0,
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok(); // a test that failed leaves none behind
        self.child.wait().ok();
    }
}

/// What the child runs. It ends once its log has failed.
#[test]
fn child() {
    if let Ok(asked) = env::var(ASKED) {
        let (log, last) = parse(&asked);
        serve(log, last).unwrap_err();
        std::process::exit(0); // before the harness prints more among what was told
    }
}

fn parse(asked: &str) -> (Log, u64) {
    let [last, sync, preallocate, directories] = *asked.split(':').collect::<Vec<_>>() else {
        panic!("not what is asked of a child: {asked}");
    };
    let sync = match sync {
        "fdatasync" => Sync::Fdatasync,
        "dsync" => Sync::Dsync,
        _ => Sync::None,
    };
    let directories = directories.split(',').map(|own| Path::new(own).to_owned());
    let asked = Log {
        sync,
        preallocate: preallocate.parse().unwrap(),
        ..log(directories.collect::<Vec<PathBuf>>())
    };
    (asked, last.parse().unwrap())
}

/// Go on from what is there until the log fails.
fn serve(log: Log, last: u64) -> Result<(), Error> {
    let namespace = if last == 0 {
        Namespace::format(log)?
    } else {
        Namespace::open(log)?.0
    };
    let (mut told, mut waits) = (last, Waits::default());
    let mut out = std::io::stdout().lock();
    for number in last + 1.. {
        append(&namespace, number, &mut waits);
        if number % CHECKPOINT_EVERY == 0 {
            namespace.checkpoint()?;
        }
        let at_least = number.saturating_sub(AT_ONCE);
        let durable = namespace.wait_for(at_least, PATIENCE, &mut waits)?;
        while told < durable {
            told += 1;
            out.write_all(&told.to_le_bytes()).unwrap();
        }
    }
    Ok(())
}
