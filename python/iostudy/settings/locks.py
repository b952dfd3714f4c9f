"""One study at a time: on an output folder, on every device below a place, on the whole host.

Locks lie in one folder for the whole host, so that all users see them, whatever state directory
each has. Anybody may lock there, and lock files stay: in a folder with the sticky bit only their
owner could remove them, and an empty file in /run/lock is gone with the next boot.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from iostudy.errors import BusyError, TargetError, UsageError
from iostudy.host import stack
from iostudy.host.devices import device_exists
from iostudy.safe_path import open_regular
from iostudy.settings import state
from iostudy.settings.change import WHOLE_HOST
from iostudy.settings.journal import command_line

LOCK_DIR = "IOSTUDY_LOCK_DIR"
OUTPUT_LOCK = "ledger.lock"
_HOST_WIDE = Path("/run/lock/iostudy")
_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def lock_directory(folder: Path) -> Iterator[None]:
    """Nobody else holds this folder meanwhile; BusyError names who does."""
    status = folder.stat()
    with _lock(f"folder-{status.st_dev}:{status.st_ino}", str(folder)):
        yield


@contextmanager
def lock_output_folder(folder: Path) -> Iterator[None]:
    """Nobody else runs a study in this folder meanwhile; BusyError names who does.

    The lock file lies in the folder, so that two lock folders (`LOCK_DIR`) cannot hide one process
    from another. UsageError where it cannot be opened.
    """
    path = folder / OUTPUT_LOCK
    try:
        descriptor = open_regular(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(
            "a lock on the output folder",
            found=error.strerror or str(error),
            where=str(path),
            remedy="run it as the owner of the folder, or give another folder with --out",
        ) from error
    with _held(descriptor, path, str(folder)):
        yield


@contextmanager
def lock_devices(*places: str | Path) -> Iterator[None]:
    """Nobody else holds a device below these places meanwhile; BusyError names who does.

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
def lock_touched(touched: Iterable[str]) -> Iterator[None]:
    """Nobody else works on what changes touch (see `Change.touches`), as far as it is there."""
    touched = set(touched)
    with ExitStack() as held:
        held.enter_context(lock_devices(*filter(device_exists, touched)))
        for number in filter(_is_deviceless, touched):
            held.enter_context(_lock(_filesystem(number), f"the file system {number}"))
        if WHOLE_HOST in touched:
            held.enter_context(lock_host())
        yield


@contextmanager
def lock_host() -> Iterator[None]:
    """Nobody else varies or sets what the host has once meanwhile; BusyError names who does."""
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


def _is_deviceless(touched: str) -> bool:
    """Whether that is the number of a file system without a block device, such as ``0:45``.

    Numbers of this major belong to none: Documentation/admin-guide/devices.txt, 0 Unnamed devices.
    """
    return touched.startswith("0:")


@contextmanager
def _lock(identity: str, name: str) -> Iterator[None]:
    path = _lock_folder() / f"{identity}.lock"
    with _held(_open(path), path, name):
        yield


@contextmanager
def _held(descriptor: int, path: Path, name: str) -> Iterator[None]:
    """The lock of an open file, which is closed at the end."""
    try:
        if not _is_free(descriptor):
            holder = os.fsdecode(state.read_all(descriptor)) or "another iostudy"
            raise BusyError(
                f"{name} for this command alone",
                found=f"{holder} is at work on it",
                where=str(path),
                remedy="wait until it has ended, or end it",
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, os.fsencode(f"process {os.getpid()} ({command_line()})"), 0)
        yield
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Whether nobody had the lock; this process has it then."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_folder() -> Path:
    """The host's, or that of ``IOSTUDY_LOCK_DIR``; where it cannot be used, one of the user's."""
    folder = Path(os.environ.get(LOCK_DIR) or _HOST_WIDE)
    try:
        folder.mkdir()
        folder.chmod(0o1777)
    except FileExistsError:
        pass
    except OSError:
        folder = state.state_directory() / "locks"
        state.make_directory(folder)
    return folder


def _open(path: Path) -> int:
    """The lock file, for all to lock; UsageError if it cannot be opened.

    Not created if it exists: the kernel refuses O_CREAT on other people's files in a folder with
    the sticky bit, even to root (proc_sys_fs(5), protected_regular).
    """
    while True:
        try:
            with suppress(FileNotFoundError):
                return os.open(path, _FLAGS)
            with suppress(FileExistsError):
                descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(descriptor, 0o666)
                return descriptor
        except OSError as error:
            raise UsageError(
                "a lock that keeps other studies away",
                found=error.strerror or str(error),
                where=str(path),
                remedy=f"make its folder usable for all, or name another one in {LOCK_DIR}",
            ) from error
