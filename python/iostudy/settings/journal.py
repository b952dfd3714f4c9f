"""The journal: what was there, durable before it is changed.

One file per owner, one line per event: a checksum, a blank, JSON. The owner, and every command
that it runs on the host, holds the file's lock; a journal whose lock can be taken has lost its
owner, and what it lists is to be undone. Lines are appended only. A change is announced and synced
before it begins; that it was undone need not be synced, for to undo twice does no harm.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from iostudy.durable import fsync_directory
from iostudy.errors import IostudyError, RestoreError, SettingError
from iostudy.settings import state
from iostudy.settings.change import Change, Record

SUFFIX = ".journal"


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
        return f"process {self.pid} ({self.command})"


@dataclass(frozen=True)
class Entry:
    """One announced change."""

    number: int
    kind: str
    record: Record


@dataclass(frozen=True)
class Contents:
    """What a journal says: the changes not known to be undone, in the order they were made.

    ``committed`` changes stay until `iostudy restore`. ``damaged`` counts complete lines (from 1)
    whose checksum is wrong. A last line that was cut short is none of them: the change it was to
    announce had not begun.
    """

    owner: Owner | None = None
    pending: tuple[Entry, ...] = ()
    committed: bool = False
    damaged: tuple[int, ...] = ()


def parse(data: bytes) -> Contents:
    """What the bytes of a journal say, as far as checksums reach."""
    events = [_decode(line) for line in data.split(b"\n")[:-1]]
    known = [event for event in events if event is not None]
    undone = {event["undone"] for event in known if "undone" in event}
    entries = [Entry(**event["change"]) for event in known if "change" in event]
    owners = [event["owner"] for event in known if "owner" in event]
    return Contents(
        owner=Owner(**{**owners[0], "mode": Mode(owners[0]["mode"])}) if owners else None,
        pending=tuple(entry for entry in entries if entry.number not in undone),
        committed=any("committed" in event for event in known),
        damaged=tuple(n for n, event in enumerate(events, 1) if event is None),
    )


@dataclass
class Journal:
    """A journal whose lock this process holds."""

    path: Path
    descriptor: int
    next_number: int = field(default=1)

    @classmethod
    def create(cls, directory: Path, mode: Mode, command: str) -> Journal:
        """A new, empty one. UsageError if the state directory cannot be used."""
        state.make_directory(directory)
        while True:
            path = directory / f"{_next_number(directory):020d}-{os.getpid()}{SUFFIX}"
            descriptor = state.open_locked(path, create=True)
            if descriptor is not None:
                break
        # Commands that change the host inherit it: until the last has ended, the owner lives.
        os.set_inheritable(descriptor, True)
        journal = cls(path, descriptor)
        owner = Owner(mode, os.getpid(), command, time.time())
        journal._append({"owner": asdict(owner)}, sync=True)
        try:
            fsync_directory(directory)
        except OSError as error:
            raise state.unusable(directory, error) from error
        return journal

    @classmethod
    def take(cls, path: Path) -> Journal | None:
        """The journal of an owner who is gone, to undo what it lists; None if there is none."""
        try:
            descriptor = state.open_locked(path, create=False)
        except FileNotFoundError:
            return None
        if descriptor is None:
            return None
        os.set_inheritable(descriptor, True)
        data = state.read_all(descriptor)
        # What is appended from now on must not run into a line that was cut short.
        os.ftruncate(descriptor, data.rfind(b"\n") + 1)
        return cls(path, descriptor)

    def contents(self) -> Contents:
        """What it says now."""
        return parse(state.read_all(self.descriptor))

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
        data = b"".join(map(_encode, events))
        size = os.fstat(self.descriptor).st_size
        try:
            if os.write(self.descriptor, data) != len(data):
                os.ftruncate(self.descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                os.fdatasync(self.descriptor)
        except OSError as error:
            raise failure(
                "to keep in the journal what is changed",
                found=error.strerror or str(error),
                where=str(self.path),
                remedy=f"make room there, or name another folder in {state.STATE_DIR}",
            ) from error


def _next_number(directory: Path) -> int:
    """Nanoseconds since 1970, but above all that there are: a clock may have been set back.

    The newest is undone first, which by a number alone can be told.
    """
    numbers = (path.name.partition("-")[0] for path in journal_paths(directory))
    newest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return max(time.time_ns(), newest + 1)


def journal_paths(directory: Path) -> tuple[Path, ...]:
    """All journals, the newest first; UsageError if the folder cannot be looked into."""
    try:
        journals = [path for path in directory.iterdir() if path.suffix == SUFFIX]
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
        return parse(path.read_bytes())
    except FileNotFoundError:
        return Contents()
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> RestoreError:
    """That a journal cannot be read, or makes no sense to this version."""
    failure = RestoreError(
        "to restore every change in the journal",
        found=f"{type(error).__name__}: {error}",
        where=str(path),
        remedy="run `iostudy restore` of the version, and as the user, that made the changes",
    )
    failure.__cause__ = error
    return failure


def command_line() -> str:
    """How this process was called, for the journal and for those who wait for it."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _encode(event: Record) -> bytes:
    text = json.dumps(event, separators=(",", ":")).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def _decode(line: bytes) -> dict[str, Any] | None:
    """The event, None if the checksum is not that of the text."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    event: dict[str, Any] = json.loads(text)
    return event
