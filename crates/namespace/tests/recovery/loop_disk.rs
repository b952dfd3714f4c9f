//! Loop disk with a file system that can be shut down as by a power loss.

use std::fs::{File, create_dir, metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::ioctl::{Setter, ioctl, opcode};
use tempfile::TempDir;

/// `XFS_IOC_GOINGDOWN`, which ext4 supports too.
const GOING_DOWN: u32 = opcode::read::<u32>(b'X', 125);
/// Neither data nor the log are flushed: unsynced data are lost.
const NO_LOG_FLUSH: u32 = 2;
/// Minimum size of `mkfs.xfs`: 300 MiB; the file is sparse.
const BYTES: u64 = 320 << 20;

/// Mounted until dropped.
pub(crate) struct LoopDisk {
    folder: TempDir,
}

impl LoopDisk {
    /// Create a file system of this kind; `None`, with a message, where mounting is impossible.
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

    /// Shut down: later calls on its files fail, and unsynced data are lost.
    #[expect(unsafe_code, reason = "an ioctl that no crate has")]
    pub(crate) fn stop(&self) {
        let root = File::open(self.point()).unwrap();
        // SAFETY: the kernel reads a u32 behind the pointer that it is given.
        unsafe { ioctl(&root, Setter::<GOING_DOWN, u32>::new(NO_LOG_FLUSH)) }.unwrap();
    }

    /// Mount it again.
    pub(crate) fn restart(&self) {
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
        self.unmount(); // a failure has been reported
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
