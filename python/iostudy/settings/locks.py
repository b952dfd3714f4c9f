"""One study at a time: on an output folder, and on every device of the stack below a place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy.errors import BusyError, TargetError
from iostudy.host import stack
from iostudy.settings import state
from iostudy.settings.journal import command_line


@contextmanager
def lock_directory(folder: Path, directory: Path | None = None) -> Iterator[None]:
    """Nobody else holds this folder meanwhile; BusyError names who does.

    ``directory`` is the state directory, here and below.
    """
    with _lock(_identity("folder", folder), str(folder), directory):
        yield


@contextmanager
def lock_devices(place: str | Path, directory: Path | None = None) -> Iterator[None]:
    """Nobody else holds a device below ``place`` meanwhile; BusyError names who does.

    All devices down to the disk are locked, so that two partitions of one disk, or a volume and its
    disk, are not studied at once. A place without a block device is locked itself.
    """
    with ExitStack() as held:
        for identity, name in _identities(place).items():
            held.enter_context(_lock(identity, name, directory))
        yield


def _identities(place: str | Path) -> dict[str, str]:
    """Name of the lock -> what a person calls it."""
    try:
        return {f"device-{d.number}": d.name for d in stack.whole_stack(place)}
    except TargetError:
        if not Path(place).exists():
            raise
        return {_identity("place", Path(place)): str(place)}


def _identity(kind: str, path: Path) -> str:
    status = path.stat()
    return f"{kind}-{status.st_dev}:{status.st_ino}"


@contextmanager
def _lock(identity: str, name: str, directory: Path | None) -> Iterator[None]:
    path = (directory or state.state_directory()) / "locks" / f"{identity}.lock"
    state.make_directory(path.parent)
    descriptor = state.open_locked(path, create=True)
    if descriptor is None:
        raise BusyError(
            f"{name} for this command alone",
            found=f"{_holder(path)} is at work on it",
            where=str(path),
            remedy="wait until it has ended, or end it",
        )
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} ({command_line()})".encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _holder(path: Path) -> str:
    try:
        return path.read_text(errors="replace") or "another iostudy"
    except FileNotFoundError:
        return "another iostudy"
