"""Write-ahead journal of changes, durable before each change begins.

One file per owner, one line per event. The owner, and every command that it runs on the host, holds
the file's lock. If the lock is free, the owner has ended, and the changes in the journal must be
undone. Lines are only appended. A change is written and synced before it begins. The line of an
undo is not synced, because undo is idempotent.

A line is a checksum, a blank and a JSON object with the line number. The first line seals the
journal: it names the last line that has reached the disk. It is written over in place after each
sync, so it never promises a line that a crash could lose. A journal with fewer lines was cut short.
Lines after the sealed ones announce nothing that has begun. Journals of earlier versions have no
seal and no line numbers; their lines are read the same way.

iostudy reads only journals of root or this user, in directories that no other user can redirect.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from iostudy.durable import fsync_directory
from iostudy.errors import IostudyError, RestoreError, SettingError
from iostudy.host.files import is_being_written
from iostudy.host.processes import one_line
from iostudy.safe_path import closing, open_regular, require_safe
from iostudy.settings.change import Change, Record
from iostudy.settings.transaction import state
from iostudy.units import MIB

SUFFIX = ".journal"
UNFINISHED_SUFFIX = ".new"
"""Suffix of a journal whose first lines are not on disk: it contains no change."""

MAX_BYTES = 128 * MIB
"""Maximum size of a journal. A study writes some KiB per trial."""

_MAX_LOG_BYTES = MAX_BYTES // 2
"""Leaves space for one undo line per change, which is shorter than the change."""


class JournalMode(StrEnum):
    """Fate of a journal without a live owner.

    STUDY: the next command undoes it. SET: likewise, unless it was committed; then it stays until
    `iostudy restore`.
    """

    STUDY = "study"
    SET = "set"


@dataclass(frozen=True)
class JournalOwner:
    """Writer of a journal: process, command line, and Unix time of its start."""

    mode: JournalMode
    pid: int
    command: str
    started_at: float

    def __str__(self) -> str:
        return f"process {self.pid} ({one_line(self.command)})"


@dataclass(frozen=True)
class JournalEntry:
    """One journaled change."""

    number: int
    kind: str
    record: Record


@dataclass(frozen=True)
class JournalContents:
    """Contents of a journal: changes not known to be undone, in the order of their creation.

    ``committed`` changes stay until `iostudy restore`. ``damaged`` and ``missing`` are those of the
    `DecodedLines`.
    """

    owner: JournalOwner | None = None
    pending: tuple[JournalEntry, ...] = ()
    committed: bool = False
    damaged: tuple[int, ...] = ()
    missing: int = 0

    @property
    def lost_lines(self) -> str:
        """Lost lines, in words; empty if none is lost."""
        damaged = f"damaged lines ({', '.join(map(str, self.damaged))})" if self.damaged else ""
        missing = f"missing lines ({self.missing})" if self.missing else ""
        return " and ".join(filter(None, (damaged, missing)))


def parse_journal(data: bytes) -> JournalContents:
    """Parse the bytes of a journal, as far as checksums allow."""
    lines = decode(data)
    undone = {event["undone"] for event in lines.objects if "undone" in event}
    entries = [JournalEntry(**event["change"]) for event in lines.objects if "change" in event]
    owners = [event["owner"] for event in lines.objects if "owner" in event]
    return JournalContents(
        owner=JournalOwner(**{**owners[0], "mode": JournalMode(owners[0]["mode"])})
        if owners
        else None,
        pending=tuple(entry for entry in entries if entry.number not in undone),
        committed=any("committed" in event for event in lines.objects),
        damaged=lines.damaged,
        missing=lines.missing,
    )


@dataclass
class Journal:
    """A journal whose lock this process holds; ``last_line`` is its highest line number."""

    path: Path
    descriptor: int
    last_line: int
    next_number: int = field(default=1)

    @classmethod
    def create(cls, directory: Path, mode: JournalMode, command: str) -> Journal:
        """Create an empty journal. UsageError if the state directory is unusable.

        It gets its final name after its first lines are on disk, so a shorter file is damaged.
        """
        state.make_directory(directory)
        journal = cls._unfinished(directory)
        try:
            owner = JournalOwner(mode, os.getpid(), command, time.time())
            first = seal(FIRST_LINES), {"owner": asdict(owner)}
            journal._append(*first, sync=True)
            journal._publish()
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
        # Commands that change the host inherit it, so the lock outlives the owner until they end.
        os.set_inheritable(descriptor, True)
        return cls(directory / name, descriptor, last_line=0)

    def _publish(self) -> None:
        name = self.path.with_suffix(SUFFIX)
        try:
            self.path.rename(name)
            self.path = name
            fsync_directory(name.parent)
        except OSError as error:
            raise state.unusable(name.parent, error) from error

    @classmethod
    def acquire(cls, path: Path) -> Journal | None:
        """Lock the journal of an ended owner for an undo; None if it is locked or removed."""
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
        """Whether its owner was killed before it journaled any change."""
        return self.path.suffix == UNFINISHED_SUFFIX

    def contents(self) -> JournalContents:
        """Read the current contents."""
        return parse_journal(state.read_all(self.descriptor, MAX_BYTES))

    def log_changes(self, changes: Sequence[Change]) -> tuple[int, ...]:
        """Make the changes durable before they begin; return their numbers."""
        numbers = tuple(range(self.next_number, self.next_number + len(changes)))
        entries = [
            {"change": {"number": number, "kind": change.kind, "record": dict(change.record())}}
            for number, change in zip(numbers, changes, strict=True)
        ]
        self._append(*entries, sync=True)
        self.next_number += len(changes)
        return numbers

    def log_undo(self, number: int) -> None:
        """Record that a change is undone; RestoreError if that fails."""
        self._append({"undone": number}, sync=False, failure=RestoreError)

    def commit(self) -> None:
        """Mark the changes as committed."""
        self._append({"committed": True}, sync=True)

    def remove(self) -> None:
        """Remove the file after a complete undo; its lock is still held."""
        self.path.unlink(missing_ok=True)

    def quarantine(self) -> Path:
        """Rename a damaged journal, so that no command processes it again."""
        aside = self.path.with_suffix(".damaged")
        self.path.rename(aside)
        return aside

    def close(self) -> None:
        """Close the journal and release its lock, which unfinished writes keep until they end."""
        if not is_being_written():
            os.close(self.descriptor)

    def _append(
        self, *events: Record, sync: bool, failure: type[IostudyError] = SettingError
    ) -> None:
        lines = (encode(n, e) for n, e in enumerate(events, self.last_line + 1))
        try:
            self._write(b"".join(lines), most_bytes=_MAX_LOG_BYTES if sync else MAX_BYTES)
            self.last_line += len(events)
            if sync:
                os.fdatasync(self.descriptor)
                # After the sync: a crash in between leaves unsealed lines.
                os.pwrite(self.descriptor, encode(1, seal(self.last_line)), 0)
        except OSError as error:
            raise failure(
                "to write changes to the journal",
                found=error.strerror or str(error),
                where=str(self.path),
                remedy=f"free space there, or name another folder in {state.STATE_DIR}",
            ) from error

    def _write(self, data: bytes, *, most_bytes: int) -> None:
        """Append all of the data, or nothing and raise OSError."""
        size = os.fstat(self.descriptor).st_size
        if size + len(data) > most_bytes:
            raise OSError(errno.EFBIG, f"the journal would exceed {most_bytes // MIB} MiB")
        if os.pwrite(self.descriptor, data, size) != len(data):
            os.ftruncate(self.descriptor, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _end_last_line(descriptor: int) -> int:
    """Terminate or truncate an incomplete last line; return the highest line number.

    An incomplete line that was sealed stays as evidence. Any other incomplete line precedes its
    change, and is removed.
    """
    data = state.read_all(descriptor, MAX_BYTES)
    lines, whole = decode(data), data.rfind(b"\n") + 1
    if whole < len(data) and lines.missing:
        os.pwrite(descriptor, b"\n", len(data))
    else:
        os.ftruncate(descriptor, whole)
    return lines.last


def _next_number(directory: Path) -> int:
    """Return nanoseconds since 1970, but more than all existing numbers.

    Undo starts with the highest number, and the clock may have been set back.
    """
    numbers = (path.name.partition("-")[0] for path in journal_paths(directory))
    newest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return max(time.time_ns(), newest + 1)


def journal_paths(directory: Path) -> tuple[Path, ...]:
    """List all journals, newest first; UsageError if the folder is unreadable.

    UnsafePathError if another user could have created them.
    """
    return _paths(directory, SUFFIX)


def unfinished_paths(directory: Path) -> tuple[Path, ...]:
    """List unfinished journals, including those of killed owners; errors as above."""
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


def read_journal(path: Path) -> JournalContents:
    """Read a journal without its lock; empty contents if it has been removed.

    RestoreError if it is unreadable or of another version.
    """
    try:
        with closing(open_regular(path, os.O_RDONLY)) as descriptor:
            return parse_journal(state.read_all(descriptor, MAX_BYTES))
    except FileNotFoundError:
        return JournalContents()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise unreadable_journal(path, error) from error


def unreadable_journal(path: Path, error: Exception) -> RestoreError:
    """Build the error for a journal that is unreadable or of another version."""
    system = error.strerror if isinstance(error, OSError) else None
    failure = RestoreError(
        "to restore every change in the journal",
        found=system or f"{type(error).__name__}: {error}",
        where=str(path),
        remedy="run `iostudy restore` of the version, and as the user, that made the changes; "
        "remove files that are not journals",
    )
    failure.__cause__ = error
    return failure


def command_line() -> str:
    """Return the command line of this process, for the journal and for waiting users."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


SEAL = "sealed"
FIRST_LINES = 2
"""The seal and the owner, which a journal has from its first moment on."""

_SEAL_CHARACTERS = 48
"""Width of the seal: it must not change, for other lines follow."""


@dataclass(frozen=True)
class DecodedLines:
    """Objects of the intact lines, and information about the others.

    ``damaged`` numbers (from 1) complete lines with a wrong checksum, ``missing`` counts sealed
    lines that are absent, ``last`` is the highest line number.
    """

    objects: tuple[Mapping[str, Any], ...]
    damaged: tuple[int, ...]
    missing: int
    last: int


def encode(number: int, event: Mapping[str, Any]) -> bytes:
    """Encode a line with this number, counted from 1."""
    text = json.dumps({**event, "line": number}, separators=(",", ":"))
    data = text.ljust(_SEAL_CHARACTERS if SEAL in event else 0).encode()
    return b"%08x %b\n" % (zlib.crc32(data), data)


def seal(last: int) -> Mapping[str, int]:
    """Build the event of the first line, after the lines up to ``last`` are on disk."""
    return {SEAL: last}


def decode(data: bytes) -> DecodedLines:
    """Decode a journal; ValueError for an intact line that is not a JSON object.

    An unterminated last line is skipped: its writer was killed before the sync.
    """
    entries = [_decode_line(line) for line in data.split(b"\n")[:-1]]
    objects = tuple(entry for entry in entries if entry is not None)
    damaged = tuple(index for index, entry in enumerate(entries, 1) if entry is None)
    numbers = {int(entry["line"]) for entry in objects if "line" in entry}
    sealed = max((int(entry[SEAL]) for entry in objects if SEAL in entry), default=0)
    there = sum(number <= sealed for number in (*numbers, *damaged))
    missing = max(0, sealed - there) if entries else 1
    return DecodedLines(objects, damaged, missing, max(numbers | {sealed, len(entries)}))


def _decode_line(line: bytes) -> Mapping[str, Any] | None:
    """Return the object, None if the checksum does not match the text."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    decoded = json.loads(text)
    if not isinstance(decoded, dict):
        raise ValueError(f"not a JSON object: {text!r}")
    return decoded
