"""Translation of errors of the native core into WorkloadError."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy import _native
from iostudy.errors import WorkloadError, WorkloadStoppedError

_REMEDIES = {
    errno.ENOSPC: "make room on the file system, or give fewer or smaller files",
    errno.EDQUOT: "make room within the quota, or give fewer or smaller files",
    errno.EMFILE: "raise the limit of open files (ulimit -n; in a study the factor "
    "limit.nofile_soft), or give fewer files",
    errno.ENFILE: "raise the limit of the host (sysctl fs.file-max), or give fewer files",
    errno.ENOMEM: "make memory free, or give fewer threads or smaller records",
    errno.EAGAIN: "raise the limit of processes (ulimit -u), or give fewer threads",
    errno.EMLINK: "its file system allows no more subdirectories in a directory (ext4 without "
    "dir_nlink 64998): give fewer files per directory",
    errno.ENAMETOOLONG: "give less depth, or a target with a shorter path",
    errno.ENOENT: "make sure that no other program removes the folder or its files during the run",
    errno.EEXIST: "remove that file or folder if it is not needed: another run has left it",
    errno.EINVAL: "where direct I/O was requested, the file system may not have it (tmpfs before "
    "Linux 6.6), or only in larger multiples: turn direct off, or make record_size larger",
    errno.EOPNOTSUPP: "the file system does not support the request, such as fallocate(2), or in "
    "HDFS a write that does not append: turn that option off, or name another target",
    errno.EROFS: "the file system went read-only, which it does after errors; see dmesg",
}
_NO_INODES = (
    "no inodes are left, see df -i: give fewer files, or make the file system with more of them "
    "(mkfs.ext4 -N)"
)
_DEFAULT_REMEDY = "see the kernel's log (dmesg) and the state of the file system"


@contextmanager
def translate_core_errors(doing: str, directory: Path) -> Iterator[None]:
    """WorkloadError for what the native core or the system refuses: "to write its files"."""
    try:
        yield
    except _native.VerificationError as error:
        raise WorkloadError(
            "to read back what was written",
            found=str(error),
            where=str(directory),
            remedy="check the device and its log (dmesg): data were changed or lost",
        ) from error
    except _native.StoppedError as error:
        raise WorkloadStoppedError(doing, where=str(directory)) from error
    except OSError as error:
        raise io_error(doing, error, directory) from error


def io_error(doing: str, error: OSError, directory: Path) -> WorkloadError:
    """Return the system's error with its place and the remedy."""
    notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    name = f" ({error.filename})" if error.filename else ""
    return WorkloadError(
        doing,
        found=f"{error.strerror or error}{name}{notes}",
        where=str(directory),
        remedy=_remedy(error.errno or 0, directory),
    )


def _remedy(number: int, directory: Path) -> str:
    """Return the remedy; statvfs(3) distinguishes ENOSPC for blocks and for inodes.

    File systems that allocate inodes on demand, such as btrfs, report none at all.
    """
    if number == errno.ENOSPC:
        # The folder itself may be what could not be made.
        filesystem = os.statvfs(
            next(path for path in (directory, *directory.parents) if path.exists())
        )
        if filesystem.f_files and not filesystem.f_favail:
            return _NO_INODES
    return _REMEDIES.get(number, _DEFAULT_REMEDY)
