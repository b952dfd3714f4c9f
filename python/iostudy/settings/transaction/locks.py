"""Exclusive locks on output folders, devices and the host.

Only root's locks and the user's own count. A user who may lock a file that root respects could keep
root from its work for ever, so root locks in a folder of its own, and other users in theirs. Other
users see what root has locked in /proc/locks, without a file that they could open and lock.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy import durable
from iostudy.errors import BusyError, TargetError, UsageError
from iostudy.folders import OUTPUT_LOCK
from iostudy.host import stack
from iostudy.host.devices import device_exists
from iostudy.host.files import decode
from iostudy.host.mounts import ANONYMOUS
from iostudy.host.processes import find_lock_holder, one_line
from iostudy.safe_path import ROOT_UID, closing, open_directory, open_regular, read_at_most
from iostudy.settings.change import WHOLE_HOST
from iostudy.settings.mount_options import is_made
from iostudy.settings.transaction import state
from iostudy.settings.transaction.journal import command_line

LOCK_DIR = "IOSTUDY_LOCK_DIR"
ROOTS_FOLDER = Path("/run/iostudy")
"""In /run only root can create it; /run/lock is writable by every user."""

_MOST_BYTES = 4096
"""Of a lock file, which holds one line about its holder."""


@contextmanager
def lock_directory(folder: Path) -> Iterator[None]:
    """Hold this folder exclusively; BusyError names the holder."""
    status = folder.stat()
    with _lock(f"folder-{status.st_dev}:{status.st_ino}", str(folder)):
        yield


@contextmanager
def lock_output_folder(folder: Path) -> Iterator[None]:
    """Lock this folder for one study; BusyError names the holder.

    The lock file lies in the folder, so that two lock folders (`LOCK_DIR`) cannot hide one process
    from another. It is removed at the end. UsageError where it cannot be opened.
    """
    path = folder / OUTPUT_LOCK
    try:
        # Only its owner may open it: flock(2) can lock every file that a process may read.
        descriptor = open_regular(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise UsageError(
            "a lock on the output folder",
            found=error.strerror or str(error),
            where=str(path),
            remedy="run it as the owner of the folder, or give another folder with --out",
        ) from error
    with _held(descriptor, path, str(folder)):
        if not state.is_still(path, descriptor):
            raise _busy(str(folder), "another iostudy", path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def lock_devices(*places: str | Path) -> Iterator[None]:
    """Lock the devices below these places; BusyError names the holder.

    All devices down to the disk are locked, so that two partitions of one disk, or a volume and its
    disk, are not studied at once. Of a place without a block device the whole file
    system is locked: two folders of one tmpfs, overlay or NFS compete for one memory or wire.
    """
    identities: dict[str, str] = {}
    for place in places:
        identities |= _identities(place)
    with ExitStack() as held:
        for identity, name in identities.items():
            held.enter_context(_lock(identity, name))
        yield


@contextmanager
def lock_affected(touched: Iterable[str]) -> Iterator[None]:
    """Lock the existing resources that the changes touch (see `Change.affected_resources`)."""
    touched = set(touched)
    with ExitStack() as held:
        held.enter_context(lock_devices(*filter(device_exists, touched)))
        for number in (name for name in touched if name.startswith(ANONYMOUS)):
            held.enter_context(_lock(_filesystem(number), f"the file system {number}"))
        if WHOLE_HOST in touched:
            held.enter_context(lock_host())
        yield


@contextmanager
def lock_mount_points(points: Iterable[Path]) -> Iterator[None]:
    """Lock those of the points that studies make, by their names; BusyError names the holder."""
    with ExitStack() as held:
        for point in filter(is_made, points):
            held.enter_context(_lock(f"mount-point-{point.name}", str(point)))
        yield


@contextmanager
def lock_host() -> Iterator[None]:
    """Lock the settings of the whole host; BusyError names another user of them."""
    with _lock("host", "the settings of the whole host"):
        yield


def _identities(place: str | Path) -> dict[str, str]:
    """Name of the lock -> what a person calls it."""
    try:
        return {f"device-{d.number}": d.name for d in stack.whole_stack(place)}
    except TargetError:
        if not Path(place).exists():
            raise
        number = Path(place).stat().st_dev
        name = f"{os.major(number)}:{os.minor(number)}"
        return {_filesystem(name): f"the file system of {place}"}


def _filesystem(number: str) -> str:
    """The name of the lock on a file system without a block device."""
    return f"filesystem-{number}"


@contextmanager
def _lock(identity: str, name: str) -> Iterator[None]:
    file = f"{identity}.lock"
    _refuse_where_root_holds(ROOTS_FOLDER / file, name)
    path = _folder() / file
    with _held(_open(path), path, name):
        yield


@contextmanager
def _held(descriptor: int, path: Path, name: str) -> Iterator[None]:
    """The lock of an open file, which is closed at the end."""
    with closing(descriptor):
        if not _is_free(descriptor):
            holder = one_line(decode(read_at_most(descriptor, _MOST_BYTES)))
            raise _busy(name, holder or "another iostudy", path)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, os.fsencode(_describe_this_process()), 0)
        yield


def _describe_this_process() -> str:
    """Return command line, process, user and time: what others see while they wait."""
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        user = f"user {os.geteuid()}"
    since = time.strftime("%H:%M on %d %b")
    return f"`{command_line()}` (process {os.getpid()} of {user}, since {since})"


def _refuse_where_root_holds(path: Path, name: str) -> None:
    """BusyError for another user's command while root holds the lock, unless a folder is named."""
    if os.geteuid() == ROOT_UID or os.environ.get(LOCK_DIR):
        return
    try:
        status = path.lstat()
    except (FileNotFoundError, PermissionError):
        return  # never locked by root, or a folder that root has closed
    holder = find_lock_holder(status)
    if holder:
        raise _busy(name, f"{holder} of root", path)


def _busy(name: str, holder: str, path: Path) -> BusyError:
    return BusyError(
        f"{name} for this command alone",
        found=f"{holder} is at work on {name}",
        where=str(path),
        remedy="wait until it has ended, as `run` and `try` do with --wait 10min, or use others",
    )


def _is_free(descriptor: int) -> bool:
    """Take the lock if it is free; return whether this process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _folder() -> Path:
    """The folder in ``IOSTUDY_LOCK_DIR``; else root's, or one in the user's state directory."""
    named = os.environ.get(LOCK_DIR)
    if named:
        return Path(named).absolute()
    return ROOTS_FOLDER if os.geteuid() == ROOT_UID else state.state_directory() / "locks"


def _open(path: Path) -> int:
    """The lock file; UsageError if it cannot be opened, or another user could redirect it.

    Other users may look root's files up in /proc/locks, and open none of them.
    """
    try:
        durable.make_directory(path.parent, 0o755 if os.geteuid() == ROOT_UID else 0o700)
        with open_directory(path.parent) as folder:
            return open_regular(path.name, os.O_RDWR | os.O_CREAT, 0o600, dir_fd=folder)
    except OSError as error:
        raise UsageError(
            "a lock that keeps other studies away",
            found=error.strerror or str(error),
            where=str(path),
            remedy=f"remove what lies there, or name a folder of this user in {LOCK_DIR}",
        ) from error
