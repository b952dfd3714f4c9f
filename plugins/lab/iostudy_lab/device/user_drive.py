"""Modelled drives that a user starts for interactive work on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.settings.transaction import state
from iostudy.settings.transaction.journal import JournalMode, journal_paths, read_journal
from iostudy.settings.transaction.recovery import Recovery, restore_committed, restore_kinds
from iostudy.settings.transaction.transaction import Transaction
from iostudy_lab.device.drive import ModelledDrive
from iostudy_lab.device.queue import DriveQueue


def start(model: str, size_bytes: int | None, *, nbd: bool = False) -> ModelledDrive:
    """Start one, with ``nbd`` also an NBD server; it runs until `stop` or `iostudy restore`.

    Without a size it has that of the drive, and keeps written data while memory lasts. UsageError
    or TargetError if it cannot be started. After a failure or a crash, nothing of it remains.
    """
    folder = state.state_directory() / "drives"
    state.make_directory(folder)
    drive = ModelledDrive.prepare(folder, model, size_bytes, sparse=True, nbd=nbd)
    with Transaction(mode=JournalMode.SET) as transaction:
        transaction.apply(drive)
        transaction.apply(*drive.tune())
        transaction.commit()
    return drive


def find_drives() -> tuple[ModelledDrive, ...]:
    """Return the started drives, also those whose server has ended, oldest first.

    RestoreError for an unreadable journal.
    """
    return tuple(drive for _, drive in _journaled())


def stop(devices: Iterable[Path]) -> Recovery:
    """End the drives behind these devices; their data are lost.

    UsageError, before any of them ends, if a device is no started drive.
    """
    journals = {drive.device.path: path for path, drive in _journaled() if drive.is_attached}
    wanted = set(devices)
    if strange := sorted(map(str, wanted - journals.keys())):
        raise UsageError(
            "devices of modelled drives that `iostudy drive up` has started",
            found=f"{', '.join(strange)}; there are {', '.join(map(str, journals)) or 'none'}",
            where="drive down",
            remedy="name one of these; --all also ends drives without a device",
        )
    return restore_committed(journals[device] for device in wanted)


def stop_all() -> Recovery:
    """End all of them; their data are lost."""
    return restore_kinds(ModelledDrive.kind, DriveQueue.kind)


def _journaled() -> list[tuple[Path, ModelledDrive]]:
    """Return each started drive with its journal, oldest first."""
    contents = [(path, read_journal(path)) for path in journal_paths(state.state_directory())]
    return [
        (path, ModelledDrive.from_record(entry.record))
        for path, journal in reversed(contents)
        if journal.committed
        for entry in journal.pending
        if entry.kind == ModelledDrive.kind
    ]
