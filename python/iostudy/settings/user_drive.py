"""Modelled drives that a user starts for interactive work on this machine."""

from __future__ import annotations

from iostudy.settings.scratch.drive import ModelledDrive
from iostudy.settings.scratch.drive_queue import DriveQueue
from iostudy.settings.transaction import state
from iostudy.settings.transaction.journal import JournalMode, journal_paths, read_journal
from iostudy.settings.transaction.recovery import Recovery, restore_kinds
from iostudy.settings.transaction.transaction import Transaction


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
        transaction.apply(DriveQueue.prepare(drive))
        transaction.commit()
    return drive


def find_drives() -> tuple[ModelledDrive, ...]:
    """Return the started drives, also those whose server has ended, oldest first.

    RestoreError for an unreadable journal.
    """
    contents = [read_journal(path) for path in journal_paths(state.state_directory())]
    entries = [e for each in reversed(contents) if each.committed for e in each.pending]
    return tuple(
        ModelledDrive.from_record(entry.record)
        for entry in entries
        if entry.kind == ModelledDrive.kind
    )


def stop() -> Recovery:
    """End all of them; their data are lost."""
    return restore_kinds(ModelledDrive.kind, DriveQueue.kind)
