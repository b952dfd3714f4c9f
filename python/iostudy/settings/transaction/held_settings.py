"""What `iostudy set` holds now, as settings with names, values and places."""

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
from iostudy.settings.transaction.journal import Contents, journal_paths, read
from iostudy.settings.transaction.state import state_directory


@dataclass(frozen=True)
class HeldSetting:
    """A setting that is held. ``device`` or ``mount_point`` say where, for what has a place."""

    name: str
    value: str
    device: DeviceIdentity | None = None
    mount_point: Path | None = None


def read_held_settings(directory: Path | None = None) -> tuple[HeldSetting, ...]:
    """Every setting that is held, the last value of each; in the order they were set first.

    RestoreError for a journal of another version, or one that has lost a line.
    """
    found: dict[tuple[str, DeviceIdentity | None, Path | None], HeldSetting] = {}
    for path in reversed(journal_paths(directory or state_directory())):
        contents = read(path)
        if contents.committed and contents.loss:
            raise _incomplete(path, contents)
        if contents.committed:
            found |= {(h.name, h.device, h.mount_point): h for h in _held(contents)}
    return tuple(found.values())


def _incomplete(path: Path, contents: Contents) -> RestoreError:
    return RestoreError(
        "all settings that `iostudy set` holds",
        found=contents.loss,
        where=str(path),
        remedy="`iostudy restore` undoes what the other lines hold; set all of it again",
    )


def _held(contents: Contents) -> Iterator[HeldSetting]:
    for entry in contents.pending:
        change = kinds.rebuild(entry.kind, entry.record)
        if isinstance(change, AttributeChange) and change.owner.loss() is None:
            for name, value in change.settings.items():
                yield HeldSetting(name, value, *_place(change.owner))


def _place(owner: Attributes) -> tuple[DeviceIdentity | None, Path | None]:
    match owner:
        case Queue(device):
            return device, None
        case MountFlags() | FileSystemOptions():
            return None, Path(owner.point)
        case _:
            return None, None
