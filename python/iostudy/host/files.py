"""Access to the kernel's small text files."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from glob import iglob
from pathlib import Path

from iostudy.safe_path import closing
from iostudy.visible import visible

ROOT = Path("/")
"""The parent of ``sys`` and ``proc``. Functions accept another root for a recorded tree."""

WRITE_SECONDS = 60.0
"""Most time for a write: the kernel waits for requests under way before it changes a queue."""

_writes: set[_Write] = set()

NOT_HERE = (errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, errno.EINVAL, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class KernelChoice:
    """A choice of names: the current one, and all that the kernel offers."""

    current: str
    available: tuple[str, ...]


def find_files(pattern: str, root: Path) -> Iterator[Path]:
    """Yield the files of a pattern; `Path.glob` would raise OSError where a folder vanishes."""
    return map(root.joinpath, iglob(pattern, root_dir=root))  # noqa: PTH207


def decode(data: bytes) -> str:
    """Text of bytes that may hold any file name; bytes that are not UTF-8 survive a round trip."""
    return os.fsdecode(data)


def read_attribute(path: Path) -> str | None:
    """Return the content of an attribute file without the final newline.

    None if this kernel or device lacks the attribute: the file is missing, or reading it fails
    with ENODEV, ENXIO, EINVAL or EOPNOTSUPP, as for inapplicable queue attributes. Other errors
    propagate.
    """
    try:
        return decode(path.read_bytes()).removesuffix("\n")
    except OSError as error:
        if error.errno in NOT_HERE:
            return None
        raise


def read_text(path: Path) -> str | None:
    """Return a text for display only, on one or more lines: printable, and None if unreadable."""
    try:
        text = read_attribute(path)
    except OSError:
        return None
    return None if text is None else visible(text, keep="\n\t")


def read_number(path: Path) -> int | None:
    """The whole number in an attribute file, None where there is no such attribute."""
    text = read_attribute(path)
    return int(text) if text else None


_TRIES, _BUSY_SECONDS = 50, 0.02
"""Writes to a queue that is busy, at most, and the time between two of them."""


class UnfinishedWriteError(TimeoutError):
    """The kernel has not ended a write in time, and may end it at any moment."""


class _Write:
    """One write(2) of a text to a file, in a thread of its own."""

    def __init__(self, path: Path, value: str) -> None:
        self.path, self.data = path, os.fsencode(value)
        self.problem: Exception | None = None
        # Not the thread's own state: of a join that a signal interrupts, Python 3.11 believes that
        # the thread has ended.
        self.ended = threading.Event()

    def run(self) -> None:
        try:
            with closing(os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)) as descriptor:
                # Linux 6.18 at times refuses a write to a queue, and takes it a moment later.
                for left in reversed(range(_TRIES if self.path.parent.name == "queue" else 1)):
                    try:
                        os.write(descriptor, self.data)
                        break
                    except OSError as error:
                        if error.errno != errno.EBUSY or not left:
                            raise
                    time.sleep(_BUSY_SECONDS)
        except Exception as error:  # noqa: BLE001 - raised in the caller's thread
            self.problem = error
        finally:
            self.ended.set()


def write_attribute(path: Path, value: str, seconds: float = WRITE_SECONDS) -> None:
    """Hand the value to the kernel in one write(2), which is what attribute files take.

    OSError if the kernel refuses it; UnfinishedWriteError if it has not ended the write after
    ``seconds``. A thread writes, because nothing ends a write that the kernel does not end. An
    exception in the caller, as of a signal, is raised when the write has ended, or is late.
    """
    if is_being_written(path):
        raise UnfinishedWriteError(errno.ETIMEDOUT, "it has not ended an earlier write")
    write, deadline = _Write(path, value), time.monotonic() + seconds
    _writes.add(write)
    try:
        threading.Thread(target=write.run, name=f"write to {path}", daemon=True).start()
        write.ended.wait(seconds)
    except RuntimeError as error:
        _writes.discard(write)
        raise OSError(errno.EAGAIN, str(error)) from error
    except BaseException:
        write.ended.wait(max(0.0, deadline - time.monotonic()))
        raise
    if not write.ended.is_set():
        late = f"it has not ended the write after {seconds:g} s"
        raise UnfinishedWriteError(errno.ETIMEDOUT, late)
    if write.problem is not None:
        raise write.problem


def is_being_written(path: Path | None = None) -> bool:
    """Return whether the kernel has not ended a write of this process to the file, or to any.

    The files of one folder, as those of a queue, share a lock in the kernel: while one of them is
    being written, all of them are.
    """
    for write in tuple(_writes):
        if write.ended.is_set():
            _writes.discard(write)
    if path is None or not _writes:
        return bool(_writes)
    folder = os.path.realpath(path.parent)
    return any(os.path.realpath(write.path.parent) == folder for write in _writes)


def parse_choice(text: str) -> KernelChoice:
    """``always [madvise] never`` -> current and offered; ValueError for text of another form.

    One name alone needs no brackets.
    """
    names = text.split()
    chosen = [name.strip("[]") for name in names if name.startswith("[")]
    if not names or len(chosen) > 1 or (not chosen and len(names) > 1):
        raise ValueError(f"not names with the current one in brackets: {text!r}")
    offered = tuple(name.strip("[]") for name in names)
    return KernelChoice(current=chosen[0] if chosen else offered[0], available=offered)


_LARGEST_BYTES = 16 << 20
"""No file that a host is configured by comes near this."""
_PIECE_BYTES = 64 << 10
"""Size of one read.

Linux 6.1 allocates the requested size for a file in /proc/sys, and refuses 4 MiB
(proc_sys_call_handler of fs/proc/proc_sysctl.c).
"""

_NO_FILE = (*NOT_HERE, errno.ELOOP)


class Reader:
    """Reads files below a root; ``refused`` lists denied reads."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._refused: dict[str, None] = {}

    @property
    def refused(self) -> tuple[str, ...]:
        """Return each denied read once: ``/proc/1/limits: Permission denied``."""
        return tuple(self._refused)

    def text(self, path: Path) -> str | None:
        """Return the content of a regular file, None if it is missing or denied.

        Folders, pipes, devices and dangling links count as missing, and never block.
        """
        try:
            return _text(path)
        except OSError as error:
            if error.errno in _NO_FILE:
                return None
            self.refuse(path, error)
            return None

    def refuse(self, path: Path, error: OSError) -> None:
        """Note that ``path`` could not be read. A process that has ended does not count."""
        if not isinstance(error, ProcessLookupError):
            self._refused[f"{path}: {error.strerror}"] = None


def _text(path: Path) -> str | None:
    if not stat.S_ISREG(path.stat().st_mode):
        return None
    # It may have been replaced by a pipe, and opening a pipe waits.
    data = bytearray()
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        while piece := file.read(_PIECE_BYTES):
            data += piece
            if len(data) > _LARGEST_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return decode(bytes(data)).removesuffix("\n")
