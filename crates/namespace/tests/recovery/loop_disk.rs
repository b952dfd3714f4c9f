//! A file system on a loop-back disk, which can be stopped as a loss of power would.

use std::fs::{File, create_dir, metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::ioctl::{Setter, ioctl, opcode};
use tempfile::TempDir;

/// `XFS_IOC_GOINGDOWN`, which ext4 has as well.
const GOING_DOWN: u32 = opcode::read::<u32>(b'X', 125);
/// Neither data nor the log are written: what is not on the disk is lost.
const NO_LOG_FLUSH: u32 = 2;
/// The least that `mkfs.xfs` takes is 300 MiB; the file has holes.
const BYTES: u64 = 320 << 20;

/// Mounted, until it is dropped.
pub(crate) struct LoopDisk {
    folder: TempDir,
}

impl LoopDisk {
    /// A new file system of that kind; None, and why, where a test cannot mount one.
    pub(crate) fn new(kind: &str) -> Option<Self> {
        let is_root = metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if !is_root || !Path::new("/dev/loop-control").exists() {
            eprintln!("not tested: needs root and loop devices");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("disk");
        File::create(&image).unwrap().set_len(BYTES).unwrap();
        run(Command::new(format!("mkfs.{kind}")).arg("-q").arg(&image));
        let own = Self { folder };
        create_dir(own.point()).unwrap();
        own.mount();
        Some(own)
    }

    pub(crate) fn point(&self) -> PathBuf {
        self.folder.path().join("point")
    }

    /// Stop it at once: every later call on its files fails, and what was in memory alone is lost.
    pub(crate) fn stop(&self) {
        let root = File::open(self.point()).unwrap();
        // SAFETY: the kernel reads a u32 behind the pointer that it is given.
        unsafe { ioctl(&root, Setter::<GOING_DOWN, u32>::new(NO_LOG_FLUSH)) }.unwrap();
    }

    /// What it holds when it is mounted again.
    pub(crate) fn start_again(&self) {
        assert!(self.unmount(), "{} stays busy", self.point().display());
        self.mount();
    }

    /// A process that another test starts holds its files until it runs its own program.
    fn unmount(&self) -> bool {
        let mut unmount = Command::new("umount");
        unmount.arg(self.point()).stderr(Stdio::null());
        (0..500).any(|_| {
            unmount.status().unwrap().success() || {
                sleep(Duration::from_millis(10));
                false
            }
        })
    }

    fn mount(&self) {
        let image = self.folder.path().join("disk");
        run(Command::new("mount")
            .args(["-o", "loop"])
            .args([&image, &self.point()]));
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        self.unmount(); // if it cannot be, the test has told why
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
