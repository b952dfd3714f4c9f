"""Every kind of change, by the name it has in a journal."""

from __future__ import annotations

from collections.abc import Callable

from iostudy.errors import RestoreError
from iostudy.settings.change import Change, Record
from iostudy.settings.queue import QueueChange
from iostudy.settings.scratch import LoopbackDisk, ScratchDevice
from iostudy.settings.work_folder import WorkFolder

_ALL: dict[str, Callable[[Record], Change]] = {
    QueueChange.kind: QueueChange.from_record,
    LoopbackDisk.kind: LoopbackDisk.from_record,
    ScratchDevice.kind: ScratchDevice.from_record,
    WorkFolder.kind: WorkFolder.from_record,
}


def rebuild(kind: str, record: Record) -> Change:
    """The change that a journal entry is about; RestoreError for a kind of another version."""
    if kind not in _ALL:
        raise RestoreError(
            f"to undo a change of the kind {kind}",
            found="a kind that this version of iostudy does not know",
            where="the journal",
            remedy="run `iostudy restore` of the version that made the change",
        )
    return _ALL[kind](record)
