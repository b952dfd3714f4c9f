//! FUSE file system with two files: the drive, and its statistics.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, ReplyXattr, Request, Session,
    TimeOrNow, WriteFlags,
};
use iostudy_drive::{BLOCK_BYTES, Drive, Operation};

use crate::completing_threads;
use crate::nbd::{self, Export};
use crate::priority::{Priority, remove_timer_slack, request_realtime};
use crate::statistics::Circumstances;
use crate::store::Store;
use crate::timed_drive::{Command, Reply, TimedDrive};

/// Name of the drive's file.
pub const FILE: &str = "drive";
/// Name of the file with the statistics, as JSON.
pub const STATISTICS: &str = "statistics";

const ROOT_INODE: INodeNo = INodeNo(1);
const FILE_INODE: INodeNo = INodeNo(2);
const STATISTICS_INODE: INodeNo = INodeNo(3);
/// Time for which the kernel keeps names and attributes, which never change.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// Asynchronous requests that the kernel sends at once; its default of 12 would limit the queue.
const MAX_BACKGROUND: u16 = 1024;

struct DriveFile {
    drive: Arc<TimedDrive>,
    store: Arc<Store>,
    realtime: bool,
}

/// Where and how a drive is served.
#[derive(Clone, Debug)]
pub struct Place {
    /// Mount point of the files.
    pub mount_point: PathBuf,
    /// Socket for clients of the NBD protocol.
    pub socket: Option<PathBuf>,
    /// Most bytes of memory that the data take.
    pub memory_limit: u64,
}

/// Serve the drive until its mount point is unmounted.
///
/// `serving` is called once the files and the socket are there.
///
/// # Errors
///
/// The kernel refuses the mount, the socket, or memory for the data.
pub fn serve(drive: Drive, place: &Place, serving: impl FnOnce()) -> io::Result<()> {
    let realtime = request_realtime(Priority::Commands);
    remove_timer_slack();
    let rotational = matches!(drive, Drive::Disk(_));
    let size = drive.blocks() * BLOCK_BYTES;
    let timed = Arc::new(TimedDrive::new(drive));
    let store = Arc::new(Store::new(size, place.memory_limit)?);
    let file = DriveFile {
        drive: Arc::clone(&timed),
        store: Arc::clone(&store),
        realtime,
    };
    let mut options = Config::default();
    options.mount_options = vec![
        MountOption::FSName("iostudy-drive".into()),
        MountOption::NoSuid,
        MountOption::NoDev,
    ];
    let session = Session::new(file, &place.mount_point, &options)?;
    let session = session.spawn()?;
    if let Some(socket) = &place.socket {
        let export = Export {
            drive: Arc::clone(&timed),
            store,
            rotational,
        };
        nbd::listen(socket, export)?;
    }
    serving();
    thread::scope(|scope| {
        completing_threads::spawn(scope, &timed);
        let ended = session.join();
        timed.end();
        ended
    })
}

impl DriveFile {
    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match inode {
            ROOT_INODE => (FileType::Directory, 0o500, 0),
            FILE_INODE => (FileType::RegularFile, 0o600, self.store.size()),
            STATISTICS_INODE => (FileType::RegularFile, 0o400, 0),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / BLOCK_BYTES,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn statistics(&self) -> io::Result<String> {
        let memory_bytes = self.store.allocated()?;
        Ok(self
            .drive
            .observe(|statistics, most_in_flight, over_depth| {
                statistics.to_json(Circumstances {
                    most_in_flight,
                    over_depth,
                    memory_bytes,
                    memory_limit_bytes: self.store.limit(),
                    realtime: self.realtime,
                })
            }))
    }

    fn read_statistics(&self, offset: u64, size: u32) -> io::Result<Vec<u8>> {
        let text = self.statistics()?.into_bytes();
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(text.into_iter().skip(skipped).take(size as usize).collect())
    }
}

/// A reply to the host, for a command of the drive.
fn answer<R: Send + 'static>(
    reply: R,
    success: impl FnOnce(R) + Send + 'static,
    refusal: impl FnOnce(R, Errno) + Send + 'static,
) -> Reply {
    Box::new(move |outcome| match outcome {
        Ok(()) => success(reply),
        Err(_) => refusal(reply, Errno::EINVAL),
    })
}

/// A command through FUSE, which has no forced unit access.
const fn command(operation: Operation, range: (u64, u32)) -> Command {
    Command {
        operation,
        range,
        fua: false,
    }
}

impl Filesystem for DriveFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_ASYNC_READ | InitFlags::FUSE_ASYNC_DIO;
        let refused = |_| io::Error::from(io::ErrorKind::Unsupported);
        config.add_capabilities(wanted).map_err(refused)?;
        let limited = |_| io::Error::from(io::ErrorKind::InvalidInput);
        config.set_max_background(MAX_BACKGROUND).map_err(limited)?;
        config
            .set_congestion_threshold(MAX_BACKGROUND)
            .map_err(limited)?;
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = match name.to_str() {
            Some(FILE) if parent == ROOT_INODE => FILE_INODE,
            Some(STATISTICS) if parent == ROOT_INODE => STATISTICS_INODE,
            _ => return reply.error(Errno::ENOENT),
        };
        if let Some(attributes) = self.attributes(inode) {
            reply.entry(&FOREVER, &attributes, Generation(0));
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Times may be set, without effect: direct writes to a loop device update them.
    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let only_times = mode.or(uid).or(gid).is_none() && size.is_none();
        match self.attributes(inode).filter(|_| only_times) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::EPERM),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = match inode {
            FILE_INODE => FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            _ => FopenFlags::FOPEN_DIRECT_IO,
        };
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if inode == STATISTICS_INODE {
            return match self.read_statistics(offset, size) {
                Ok(text) => reply.data(&text),
                Err(reason) => reply.error(reason.into()),
            };
        }
        let Some(range) = self.store.blocks(offset, size as usize) else {
            return reply.error(Errno::EINVAL);
        };
        match self.store.read(offset, size as usize) {
            Ok(data) => {
                let reply = answer(reply, move |own| own.data(&data), ReplyData::error);
                self.drive.submit(command(Operation::Read, range), reply);
            }
            Err(reason) => reply.error(reason.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let own = self.store.blocks(offset, data.len());
        let Some(range) = own.filter(|_| inode == FILE_INODE) else {
            return reply.error(Errno::EINVAL);
        };
        let Ok(written) = u32::try_from(data.len()) else {
            return reply.error(Errno::EINVAL);
        };
        match self.store.write(offset, data) {
            Ok(()) => {
                let reply = answer(reply, move |own| own.written(written), ReplyWrite::error);
                self.drive.submit(command(Operation::Write, range), reply);
            }
            Err(reason) => reply.error(reason.into()),
        }
    }

    /// `close(2)` leaves the drive's cache alone.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let reply = answer(reply, ReplyEmpty::ok, ReplyEmpty::error);
        self.drive.submit(command(Operation::Flush, (0, 0)), reply);
    }

    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        reply.error(Errno::ENOSYS);
    }
}
