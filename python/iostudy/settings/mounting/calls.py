"""System calls that change a mount or its file system in place.

No mount(8): it would merge what fstab says, and take a path or an option apart in its own way. The
kernel is given an open mount, whatever its path looks like.

Source: mount(2), mount_setattr(2) for what the flags mean, fspick(2) and fsconfig(2); the numbers
of <linux/mount.h>. fspick and fsconfig (Linux 5.2) have the same number on every architecture that
was there then but alpha.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path

from iostudy.errors import RestoreError, TargetError
from iostudy.host.mounts import Mount, find_mounts_at, parse_mount_id
from iostudy.safe_path import closing, open_directory, require_safe
from iostudy.settings.mount_options import MOUNT_POINTS, ON, is_made, split_option

_MS_REMOUNT = 32
_MS_BIND = 4096
_FLAGS = {
    "ro": 1,
    "nosuid": 2,
    "nodev": 4,
    "noexec": 8,
    "sync": 16,
    "mand": 64,
    "dirsync": 128,
    "nosymfollow": 256,
    "noatime": 1 << 10,
    "nodiratime": 1 << 11,
    "relatime": 1 << 21,
    "strictatime": 1 << 24,
    "lazytime": 1 << 25,
}
"""The MS_ flag of every option that mount(2) takes as a flag."""
_KEEPING = ("ext2", "ext3", "ext4", "xfs", "btrfs")
"""File systems that keep what a reconfiguration does not say; others may go back to defaults."""
_FORGOTTEN = ("ro", "sync", "lazytime", "inode32", "noacl")
"""What not even these keep: ext4 and btrfs become writable, xfs goes back to inode64, btrfs back to
acl, and ext4 of some kernels forgets lazytime."""
_UNSAID = ("rw", "dirsync", "mand", "seclabel")
"""Options that the kernel shows but does not accept, or that change nothing."""

_FSCONFIG, _FSPICK = 431, 433
_FSPICK_CLOEXEC, _FSPICK_EMPTY_PATH = 1, 8
_SET_FLAG, _SET_STRING, _RECONFIGURE = 0, 1, 7
_MESSAGE_BYTES = 8192
_KERNEL_LOG = Path("/dev/kmsg")
_WARNING = 4
_SEVERITY_BITS = 7
_MNT_DETACH, _UMOUNT_NOFOLLOW = 2, 8

_libc = ctypes.CDLL(None, use_errno=True)


def is_reachable(mount: Mount) -> bool:
    """Return whether its mount point leads to it, and not to a mount on top of it."""
    try:
        with _open_mount(mount):
            return True
    except OSError:
        return False


def set_flags(mount: Mount, options: AbstractSet[str]) -> None:
    """Give a mount exactly these flags; OSError if the kernel refuses."""
    with _open_mount(mount) as descriptor:
        _mount(descriptor, _MS_BIND, options, "")


def reconfigure(mount: Mount, option: str) -> None:
    """Change one option of the mounted file system, and nothing else.

    OSError with the message of the file system, or with new kernel log messages.
    """
    with _open_mount(mount) as descriptor, _explained_by_kernel_log():
        if not _reconfigure_by_context(descriptor, mount, option):
            _reconfigure_by_mount(descriptor, mount, option)


def unmount(directory: int, name: str, *, lazy: bool = False) -> None:
    """Unmount the folder of that name, which is not a link, in a directory.

    ``lazy``: also one with open files, which keep the file system until they are closed. OSError
    if the kernel refuses. Source: umount2(2).
    """
    point = os.fsencode(f"/proc/self/fd/{directory}/{name}")
    _checked(_libc.umount2(point, _UMOUNT_NOFOLLOW | (_MNT_DETACH if lazy else 0)))


def check(mount: Mount, option: str) -> None:
    """OSError if the file system rejects the option or its value; changes nothing.

    Old kernels have no such check: the change itself fails there.
    """
    with _open_mount(mount) as descriptor, _open_context(descriptor) as context:
        if context is not None:
            _configure(context, option)


@contextmanager
def _open_mount(mount: Mount) -> Iterator[int]:
    with closing(os.open(mount.point, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)) as descriptor:
        info = Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii")
        if parse_mount_id(info) != mount.id:
            raise OSError(errno.EBUSY, "another mount lies over it; unmount that first")
        yield descriptor


def _reconfigure_by_context(descriptor: int, mount: Mount, option: str) -> bool:
    """Return whether this kernel supports this interface."""
    with _open_context(descriptor) as context:
        if context is None:
            return False
        for said in (*_repeated_options(mount, option), option):
            _configure(context, said)
        _fsconfig(context, _RECONFIGURE, None, None)
        return True


def _repeated_options(mount: Mount, option: str) -> list[str]:
    """Return options that a remount must repeat (mount(2), "Remounting")."""
    keeps = mount.filesystem in _KEEPING
    shown = (o for o in mount.super_options if (o in _FORGOTTEN if keeps else o not in _UNSAID))
    key, _ = split_option(option)
    return [other for other in shown if split_option(other)[0] != key]


@contextmanager
def _open_context(descriptor: int) -> Iterator[int | None]:
    """Open a reconfiguration context; None on kernels without this interface."""
    flags = _FSPICK_CLOEXEC | _FSPICK_EMPTY_PATH
    try:
        context = _system_call(_FSPICK, descriptor, b"", flags)
    except OSError as error:
        # Filters of system calls in containers answer EPERM for what they do not know.
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
        yield None
        return
    with closing(context):
        yield context


def _configure(context: int, option: str) -> None:
    key, equals, value = option.partition("=")
    command = _SET_STRING if equals else _SET_FLAG
    _fsconfig(context, command, os.fsencode(key), os.fsencode(value) if equals else None)


def _fsconfig(context: int, command: int, key: bytes | None, value: bytes | None) -> None:
    try:
        _system_call(_FSCONFIG, context, command, key, value, 0)
    except OSError as error:
        # The messages of the file system: fsopen(2), "messages".
        messages = (message.partition(" ")[2].strip() for message in _read_messages(context))
        raise OSError(error.errno, "; ".join(messages) or error.strerror) from error


def _read_messages(descriptor: int) -> Iterator[str]:
    with suppress(OSError):  # ENODATA or EAGAIN: that was all
        while message := os.read(descriptor, _MESSAGE_BYTES):
            yield os.fsdecode(message)


def _reconfigure_by_mount(descriptor: int, mount: Mount, option: str) -> None:
    """For kernels before 5.2: repeat all flags of the mount and of its file system."""
    if ("ro" in mount.options) is not ("ro" in mount.super_options):
        reason = "this kernel could not keep a mount read only on a file system that is not"
        raise OSError(errno.EROFS, reason)
    said = (*_repeated_options(mount, option), option)
    data = (name for name in said if split_option(name)[0] not in _FLAGS)
    key, value = split_option(option)
    flags = {*mount.options, *mount.super_options} - {key} | ({key} if value == ON else set())
    _mount(descriptor, 0, flags, ",".join(data))


def _mount(descriptor: int, how: int, options: AbstractSet[str], data: str) -> None:
    # Without any of the three the kernel would keep the atime mode that the mount has.
    said = options | ({"noatime", "relatime"} & options or {"strictatime"})
    flags = _MS_REMOUNT | how | sum(number for name, number in _FLAGS.items() if name in said)
    target = os.fsencode(f"/proc/self/fd/{descriptor}")
    _checked(_libc.mount(b"none", target, None, ctypes.c_ulong(flags), os.fsencode(data)))


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    passed = (ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in arguments)
    return _checked(_libc.syscall(ctypes.c_long(number), *passed))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@contextmanager
def _explained_by_kernel_log() -> Iterator[None]:
    """Add new kernel warnings to an OSError without a reason."""
    try:
        log = os.open(_KERNEL_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # not in a container: errno alone must do
        yield
        return
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield
    except OSError as error:
        number = error.errno or 0
        if error.strerror != os.strerror(number):
            raise
        # Warnings and worse messages (Documentation/ABI/testing/dev-kmsg).
        records = (record.partition(";") for record in _read_messages(log))
        warnings = (
            text.splitlines()[0]
            for prefix, _, text in records
            if int(prefix.split(",")[0]) & _SEVERITY_BITS <= _WARNING
        )
        raise OSError(number, "; ".join(warnings) or error.strerror) from error
    finally:
        os.close(log)


def require_empty(point: Path) -> Path:
    """Return the path without links; TargetError unless it is an empty, unmounted directory.

    A point in `MOUNT_POINTS` may be missing: `make_point` makes it.
    """
    if is_made(point) and not point.exists():
        return point
    try:
        real = point.resolve(strict=True)
        fault = "files are in it" if any(real.iterdir()) else ""
    except OSError as error:
        fault = error.strerror or str(error)
    else:
        if find_mounts_at(real):
            fault = "it is a mount point"
    if fault:
        raise TargetError(
            "an empty directory to mount on",
            found=fault,
            where=str(point),
            remedy="make a new directory, or run `iostudy restore` if a killed study has left it; "
            "`findmnt` lists the mounts",
        )
    return real


def make_point(point: Path) -> None:
    """Make a directory of `MOUNT_POINTS`, which only root enters; any other is there already.

    TargetError if it cannot be made, UnsafePathError if another user could redirect it.
    """
    if not is_made(point):
        return
    try:
        MOUNT_POINTS.parent.mkdir(mode=0o755, exist_ok=True)
        MOUNT_POINTS.mkdir(mode=0o700, exist_ok=True)
        require_safe(MOUNT_POINTS)
        if MOUNT_POINTS.resolve() != MOUNT_POINTS:
            raise OSError(errno.ELOOP, "a link is in its path")
        MOUNT_POINTS.chmod(0o700)
        point.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise TargetError(
            "to make a mount point",
            found=error.strerror or str(error),
            where=str(point),
            remedy="name an empty directory that only root can enter: at: /mnt/iostudy/NAME",
        ) from error


def unmount_all(point: Path, source: str, is_own: Callable[[Mount], bool]) -> bool:
    """Unmount the own mounts of a point, also while files are open; return whether there was one.

    A directory of `MOUNT_POINTS` is removed. RestoreError if another mount lies over them, or the
    kernel refuses.
    """
    was_there = False
    while any(map(is_own, mounted := find_mounts_at(point))):
        was_there = True
        try:
            if not is_own(mounted[-1]):
                raise OSError("another mount lies over it")
            with open_directory(point.parent) as parent:
                unmount(parent, point.name, lazy=True)
        except OSError as error:
            raise RestoreError(
                f"to unmount {source}",
                found=error.strerror or str(error),
                where=str(point),
                remedy="see `findmnt`; `iostudy restore` tries again",
            ) from error
    if is_made(point):
        with suppress(OSError):  # it is gone, or holds what is not of the study
            point.rmdir()
    return was_there
