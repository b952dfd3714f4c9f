"""The journal: what was there, durable before it is changed.

One file per owner, one line per event. The owner, and every command that it runs on the host, holds
the file's lock; a journal whose lock can be taken has lost its owner, and what it lists is to be
undone. Lines are appended only. A change is announced and synced before it begins; that it was
undone need not be synced, for to undo twice does no harm.

Only a journal that root or this user owns, in a directory that no other user can redirect, is read.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from iostudy.durable import fsync_directory
from iostudy.errors import IostudyError, RestoreError, SettingError
from iostudy.host.lock_holders import one_line
from iostudy.safe_path import open_regular, require_safe
from iostudy.settings.change import Change, Record
from iostudy.settings.journal_lines import FIRST_LINES, decode, encode, seal
from iostudy.settings.transaction import state
from iostudy.units import MIB

SUFFIX = ".journal"
UNFINISHED_SUFFIX = ".new"
"""Ends the name of a journal whose first lines are not on disk: it announces nothing."""

MOST_BYTES = 128 * MIB
"""The largest journal that is read. A study announces some KiB a trial."""

_MOST_ANNOUNCED_BYTES = MOST_BYTES // 2
"""Leaves room to note each change as undone, which takes less than to announce it."""


class Mode(StrEnum):
    """What becomes of a journal without an owner.

    STUDY: it is undone by the next command. SET: so it is unless it was committed, and then held on
    purpose until `iostudy restore`.
    """

    STUDY = "study"
    SET = "set"


@dataclass(frozen=True)
class Owner:
    """Who writes a journal: process, command line, and Unix time of the start."""

    mode: Mode
    pid: int
    command: str
    started_at: float

    def __str__(self) -> str:
        return f"process {self.pid} ({one_line(self.command)})"


@dataclass(frozen=True)
class Entry:
    """One announced change."""

    number: int
    kind: str
    record: Record


@dataclass(frozen=True)
class Contents:
    """What a journal says: the changes not known to be undone, in the order they were made.

    ``committed`` changes stay until `iostudy restore`. ``damaged`` and ``missing`` are those of
    `journal_lines.Lines`.
    """

    owner: Owner | None = None
    pending: tuple[Entry, ...] = ()
    committed: bool = False
    damaged: tuple[int, ...] = ()
    missing: int = 0

    @property
    def loss(self) -> str:
        """The lines that are lost, in words; empty if none is."""
        damaged = f"damaged lines ({', '.join(map(str, self.damaged))})" if self.damaged else ""
        missing = f"missing lines at the end ({self.missing})" if self.missing else ""
        return " and ".join(filter(None, (damaged, missing)))


def parse(data: bytes) -> Contents:
    """What the bytes of a journal say, as far as checksums reach."""
    lines = decode(data)
    undone = {event["undone"] for event in lines.objects if "undone" in event}
    entries = [Entry(**event["change"]) for event in lines.objects if "change" in event]
    owners = [event["owner"] for event in lines.objects if "owner" in event]
    return Contents(
        owner=Owner(**{**owners[0], "mode": Mode(owners[0]["mode"])}) if owners else None,
        pending=tuple(entry for entry in entries if entry.number not in undone),
        committed=any("committed" in event for event in lines.objects),
        damaged=lines.damaged,
        missing=lines.missing,
    )


@dataclass
class Journal:
    """A journal whose lock this process holds; ``last_line`` is the number of its last line."""

    path: Path
    descriptor: int
    last_line: int
    next_number: int = field(default=1)

    @classmethod
    def create(cls, directory: Path, mode: Mode, command: str) -> Journal:
        """A new one, which announces nothing. UsageError if the state directory cannot be used.

        It gets its name once its first lines are on disk: without them it was damaged.
        """
        state.make_directory(directory)
        journal = cls._unfinished(directory)
        try:
            owner = Owner(mode, os.getpid(), command, time.time())
            first = seal(FIRST_LINES), {"owner": asdict(owner)}
            journal._append(*first, sync=True)
            journal._give_name()
        except BaseException:
            journal.remove()
            journal.close()
            raise
        return journal

    @classmethod
    def _unfinished(cls, directory: Path) -> Journal:
        while True:
            name = f"{_next_number(directory):020d}-{os.getpid()}{UNFINISHED_SUFFIX}"
            descriptor = state.open_locked(directory / name, create=True)
            if descriptor is not None:
                break
        # Commands that change the host inherit it: until the last has ended, the owner lives.
        os.set_inheritable(descriptor, True)
        return cls(directory / name, descriptor, last_line=0)

    def _give_name(self) -> None:
        name = self.path.with_suffix(SUFFIX)
        try:
            self.path.rename(name)
            self.path = name
            fsync_directory(name.parent)
        except OSError as error:
            raise state.unusable(name.parent, error) from error

    @classmethod
    def take(cls, path: Path) -> Journal | None:
        """The journal of an owner who is gone, to undo what it lists; None if there is none."""
        try:
            descriptor = state.open_locked(path, create=False)
        except FileNotFoundError:
            return None
        if descriptor is None:
            return None
        try:
            os.set_inheritable(descriptor, True)
            return cls(path, descriptor, _end_last_line(descriptor))
        except BaseException:
            os.close(descriptor)
            raise

    @property
    def is_unfinished(self) -> bool:
        """Whether its owner was killed before it could announce anything."""
        return self.path.suffix == UNFINISHED_SUFFIX

    def contents(self) -> Contents:
        """What it says now."""
        return parse(state.read_all(self.descriptor, MOST_BYTES))

    def announce(self, changes: Sequence[Change]) -> tuple[int, ...]:
        """Make the changes durable before they begin; their numbers."""
        numbers = tuple(range(self.next_number, self.next_number + len(changes)))
        entries = [
            {"change": {"number": number, "kind": change.kind, "record": dict(change.record())}}
            for number, change in zip(numbers, changes, strict=True)
        ]
        self._append(*entries, sync=True)
        self.next_number += len(changes)
        return numbers

    def undone(self, number: int) -> None:
        """Note that a change has been put back; RestoreError if that cannot be noted."""
        self._append({"undone": number}, sync=False, failure=RestoreError)

    def commit(self) -> None:
        """Hold the changes on purpose, from now on."""
        self._append({"committed": True}, sync=True)

    def remove(self) -> None:
        """All has been put back: remove the file, whose lock is still held."""
        self.path.unlink(missing_ok=True)

    def set_aside(self) -> Path:
        """Keep a damaged journal under another name, where no command looks for work."""
        aside = self.path.with_suffix(".damaged")
        self.path.rename(aside)
        return aside

    def close(self) -> None:
        """Leave the journal, and its lock with it."""
        os.close(self.descriptor)

    def _append(
        self, *events: Record, sync: bool, failure: type[IostudyError] = SettingError
    ) -> None:
        lines = (encode(n, e) for n, e in enumerate(events, self.last_line + 1))
        try:
            self._write(b"".join(lines), most_bytes=_MOST_ANNOUNCED_BYTES if sync else MOST_BYTES)
            self.last_line += len(events)
            if sync:
                os.fdatasync(self.descriptor)
                # After the sync: a crash in between leaves lines that no seal promises.
                os.pwrite(self.descriptor, encode(1, seal(self.last_line)), 0)
        except OSError as error:
            raise failure(
                "to keep in the journal what is changed",
                found=error.strerror or str(error),
                where=str(self.path),
                remedy=f"make room there, or name another folder in {state.STATE_DIR}",
            ) from error

    def _write(self, data: bytes, *, most_bytes: int) -> None:
        """Append all of it, or nothing and OSError."""
        size = os.fstat(self.descriptor).st_size
        if size + len(data) > most_bytes:
            raise OSError(errno.EFBIG, f"the journal would exceed {most_bytes // MIB} MiB")
        if os.pwrite(self.descriptor, data, size) != len(data):
            os.ftruncate(self.descriptor, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _end_last_line(descriptor: int) -> int:
    """Let the next line begin a line of its own; the number of the last line that there is.

    What is left of a sealed line stays, for a person to read; any other line that was cut short
    announced nothing, and goes.
    """
    data = state.read_all(descriptor, MOST_BYTES)
    lines, whole = decode(data), data.rfind(b"\n") + 1
    if whole < len(data) and lines.missing:
        os.pwrite(descriptor, b"\n", len(data))
    else:
        os.ftruncate(descriptor, whole)
    return lines.last


def _next_number(directory: Path) -> int:
    """Nanoseconds since 1970, but above all that there are: a clock may have been set back.

    The newest is undone first, which by a number alone can be told.
    """
    numbers = (path.name.partition("-")[0] for path in journal_paths(directory))
    newest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return max(time.time_ns(), newest + 1)


def journal_paths(directory: Path) -> tuple[Path, ...]:
    """All journals, the newest first; UsageError if the folder cannot be looked into.

    UnsafePathError if another user could have placed them there.
    """
    return _paths(directory, SUFFIX)


def unfinished_paths(directory: Path) -> tuple[Path, ...]:
    """The journals that are being made, or whose owner was killed meanwhile; errors as above."""
    return _paths(directory, UNFINISHED_SUFFIX)


def _paths(directory: Path, suffix: str) -> tuple[Path, ...]:
    try:
        require_safe(directory)
        journals = [path for path in directory.iterdir() if path.suffix == suffix]
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise state.unusable(directory, error) from error
    return tuple(sorted(journals, reverse=True))


def read(path: Path) -> Contents:
    """What a journal says, whoever holds it; nothing once it has been removed.

    RestoreError if it cannot be read, or is of another version.
    """
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return Contents()
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        return parse(state.read_all(descriptor, MOST_BYTES))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise unreadable(path, error) from error
    finally:
        os.close(descriptor)


def unreadable(path: Path, error: Exception) -> RestoreError:
    """That a journal cannot be read, or makes no sense to this version."""
    system = error.strerror if isinstance(error, OSError) else None
    failure = RestoreError(
        "to restore every change in the journal",
        found=system or f"{type(error).__name__}: {error}",
        where=str(path),
        remedy="run `iostudy restore` of the version, and as the user, that made the changes; "
        "remove what is no journal",
    )
    failure.__cause__ = error
    return failure


def command_line() -> str:
    """How this process was called, for the journal and for those who wait for it."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
