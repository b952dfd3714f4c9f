"""Settings that `iostudy set` currently holds, with names, values and places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import RestoreError
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeChange, Attributes
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.kinds.queue import Queue
from iostudy.settings.mounting.owners import FileSystemOptions, MountFlags
from iostudy.settings.transaction.journal import JournalContents, journal_paths, read_journal
from iostudy.settings.transaction.state import state_directory


@dataclass(frozen=True)
class CommittedSetting:
    """A setting that is held. ``device`` or ``mount_point`` say where, for what has a place."""

    name: str
    value: str
    device: DeviceIdentity | None = None
    mount_point: Path | None = None


def read_committed_settings(directory: Path | None = None) -> tuple[CommittedSetting, ...]:
    """Every setting that is held, the last value of each; in the order they were set first.

    RestoreError for a journal of another version, or one that has lost a line.
    """
    found: dict[tuple[str, DeviceIdentity | None, Path | None], CommittedSetting] = {}
    for path in reversed(journal_paths(directory or state_directory())):
        contents = read_journal(path)
        if contents.committed and contents.lost_lines:
            raise _incomplete(path, contents)
        if contents.committed:
            found |= {(h.name, h.device, h.mount_point): h for h in _held(contents)}
    return tuple(found.values())


def _incomplete(path: Path, contents: JournalContents) -> RestoreError:
    return RestoreError(
        "all settings that `iostudy set` holds",
        found=contents.lost_lines,
        where=str(path),
        remedy="`iostudy restore` undoes what the other lines hold; set all of it again",
    )


def _held(contents: JournalContents) -> Iterator[CommittedSetting]:
    for entry in contents.pending:
        change = kinds.rebuild_change(entry.kind, entry.record)
        if isinstance(change, AttributeChange) and change.owner.absence_reason() is None:
            for name, value in change.settings.items():
                yield CommittedSetting(name, value, *_place(change.owner))


def _place(owner: Attributes) -> tuple[DeviceIdentity | None, Path | None]:
    match owner:
        case Queue(device):
            return device, None
        case MountFlags() | FileSystemOptions():
            return None, Path(owner.point)
        case _:
            return None, None
