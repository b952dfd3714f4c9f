"""One study per device: locks on every device of the stack below a place."""

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
def study_lock(place: str | Path, directory: Path | None = None) -> Iterator[None]:
    """Nobody else studies what lies below ``place`` inside this context.

    All devices down to the disk are locked, so that two partitions of one disk, or a volume and its
    disk, are not studied at once; without a block device, the file system's folder is. BusyError
    names who holds it.
    """
    folder = (directory or state.state_directory()) / "locks"
    state.make_directory(folder)
    with ExitStack() as held:
        for identity, name in _identities(place).items():
            held.enter_context(_lock(folder / f"{identity}.lock", name))
        yield


def _identities(place: str | Path) -> dict[str, str]:
    """Lock name -> what a person calls it."""
    try:
        return {f"device-{d.number}": d.name for d in stack.whole_stack(place)}
    except TargetError:
        if not Path(place).exists():
            raise
        status = Path(place).stat()
        return {f"folder-{status.st_dev}:{status.st_ino}": str(place)}


@contextmanager
def _lock(path: Path, name: str) -> Iterator[None]:
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
