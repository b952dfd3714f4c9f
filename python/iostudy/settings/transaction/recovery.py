"""Restoration of changes that other commands left, after a crash or on purpose."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from iostudy.errors import BusyError, OutOfReachError, RestoreError
from iostudy.host.processes import LockHolder, find_users
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeChange, Attributes
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.deferred_signals import defer_signals
from iostudy.settings.transaction.journal import (
    Journal,
    JournalContents,
    JournalOwner,
    journal_paths,
    read_journal,
    unfinished_paths,
    unreadable_journal,
)
from iostudy.settings.transaction.locks import lock_affected
from iostudy.settings.transaction.state import state_directory
from iostudy.settings.transaction.transaction import JournaledChange, UndoResult, undo

PATIENCE_SECONDS = 5.0
"""Time to wait for commands of ended owners, once for all journals; they were killed as well."""

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Recovery:
    """Result of restoring other commands' changes.

    ``skip_reasons`` name owners of changes that are at work.
    """

    undo_result: UndoResult = field(default_factory=UndoResult)
    skip_reasons: tuple[str, ...] = ()

    def within_reach(self) -> Recovery:
        """Return the result without failures that wait for a mount or for another study."""
        failures = (e for e in self.undo_result.failures if e not in self.undo_result.out_of_reach)
        return replace(self, undo_result=replace(self.undo_result, failures=tuple(failures)))

    def __add__(self, other: Recovery) -> Recovery:
        return Recovery(
            self.undo_result + other.undo_result, self.skip_reasons + other.skip_reasons
        )


def restore_stale(directory: Path | None = None) -> Recovery:
    """Undo changes of ended commands, except committed ones.

    Every command that changes the host calls this first, and reports the restored values.
    """
    return restore_all(directory, include_committed=False)


def restore_all(
    directory: Path | None = None,
    policy: ConflictPolicy = ConflictPolicy.REPORT,
    *,
    include_committed: bool = True,
) -> Recovery:
    """Undo everything, newest first; ``include_committed``: also what `iostudy set` holds.

    ``policy`` applies to values that another process has changed since.
    """
    directory = directory or state_directory()
    paths = (*journal_paths(directory), *unfinished_paths(directory))
    return _restore_each(paths, policy, include_committed=include_committed)


def restore_kinds(*names: str, directory: Path | None = None) -> Recovery:
    """Undo committed journals that contain only these kinds of change.

    Unreadable journals are skipped; `restore_stale` has reported them.
    """
    paths = journal_paths(directory or state_directory())
    journals = [path for path in paths if (changed := _kinds_in(path)) and changed <= {*names}]
    return restore_committed(journals)


def restore_committed(paths: Iterable[Path]) -> Recovery:
    """Undo these journals, also committed ones."""
    return _restore_each(paths, ConflictPolicy.REPORT, include_committed=True)


def require_restored(devices: AbstractSet[str]) -> None:
    """RestoreError if an ended command has left a change of these devices.

    The names are those of `Change.affected_resources`. The caller holds the locks of the devices,
    so no live study has journaled such a change. Unreadable journals were reported before.
    """
    for path in journal_paths(state_directory()):
        for step in _read_uncommitted(path):
            affected = devices & set(step.change.affected_resources())
            if affected:
                raise RestoreError(
                    f"{', '.join(sorted(affected))} with the value before iostudy changed it",
                    found=f"not restored yet: {step.change.describe()}",
                    where=str(path),
                    remedy="run `iostudy restore` for instructions",
                )


def _read_uncommitted(path: Path) -> Sequence[JournaledChange]:
    """Return the uncommitted changes in a journal; none if it is unreadable."""
    try:
        contents = read_journal(path)
        return () if contents.committed else _rebuild(contents)[0]
    except RestoreError:
        return ()


def _kinds_in(path: Path) -> set[str]:
    try:
        return {entry.kind for entry in read_journal(path).pending}
    except RestoreError:
        return set()


def _restore_each(
    paths: Iterable[Path], policy: ConflictPolicy, *, include_committed: bool
) -> Recovery:
    deadline = time.monotonic() + PATIENCE_SECONDS
    return sum(
        (_restore(path, policy, deadline, include_committed=include_committed) for path in paths),
        Recovery(),
    )


def _restore(
    path: Path, policy: ConflictPolicy, deadline: float, *, include_committed: bool
) -> Recovery:
    """Restore one journal; wait until ``deadline`` for commands of an ended owner."""
    while (
        recovery := _restore_unlocked(path, policy, include_committed=include_committed)
    ) is None:
        if not path.exists():  # removed or renamed by its owner since it was listed
            return Recovery()
        try:
            lock = _Lock.read(path)
        except RestoreError as error:
            return Recovery(UndoResult(failures=(error,)))
        if lock.is_owners or time.monotonic() > deadline:
            return lock.recovery()
        time.sleep(_POLL_SECONDS)
    return recovery


def _restore_unlocked(
    path: Path, policy: ConflictPolicy, *, include_committed: bool
) -> Recovery | None:
    """Return None while another process holds the journal.

    No error of one journal prevents the restoration of the others.
    """
    with defer_signals():
        try:
            journal = Journal.acquire(path)
            if journal is None:
                return None
            with closing(journal):
                return _restore_contents(journal, policy, include_committed=include_committed)
        except Exception as error:  # noqa: BLE001 - kept as the cause, and shown
            return Recovery(UndoResult(failures=(unreadable_journal(path, error),)))


@dataclass(frozen=True)
class _Lock:
    """A journal that another process holds, with its owner and its users.

    No user is visible if the lock was released since, or in another PID namespace.
    """

    path: Path
    owner: JournalOwner | None
    users: tuple[LockHolder, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(path, read_journal(path).owner, find_users(path))

    @property
    def is_owners(self) -> bool:
        """Return whether the owner lives; a command that it ran may outlive it."""
        return self.owner is not None and self.owner.pid in {user.pid for user in self.users}

    def recovery(self) -> Recovery:
        """Skip the journal of a live owner; other users are a failure that names them."""
        if self.owner is None:
            return Recovery()
        if self.is_owners or not self.users:
            return Recovery(skip_reasons=(f"{self.owner} is at work",))
        failure = RestoreError(
            f"to restore the changes of {self.owner}, which has ended",
            found=f"{', '.join(map(str, self.users))} still use it",
            where=str(self.path),
            remedy="wait until it has ended, or end it; `iostudy restore` tries again",
        )
        return Recovery(UndoResult(failures=(failure,)))


def _restore_contents(
    journal: Journal, policy: ConflictPolicy, *, include_committed: bool
) -> Recovery:
    if journal.is_unfinished:
        journal.remove()
        return Recovery()
    contents = journal.contents()
    if contents.committed and not include_committed:
        return Recovery()
    steps, failures = _rebuild(contents)
    try:
        # The owner has ended, but a study may use the settings.
        with lock_affected(name for step in steps for name in step.change.affected_resources()):
            if _is_superseded(steps, journal.path):
                return _leave_in_force(steps, journal, "it has been changed again since")
            result = undo(journal, steps, policy) + UndoResult(failures=failures)
    except BusyError as busy:
        return _leave_in_force(steps, journal, busy.found)
    return Recovery(result + _finish(journal, contents, result))


def _leave_in_force(steps: Sequence[JournaledChange], journal: Journal, reason: str) -> Recovery:
    """Return the failure to undo an ended owner's changes now; a later attempt may succeed."""
    failure = OutOfReachError(
        f"to undo: {'; '.join(step.change.describe() for step in steps)}",
        found=reason,
        where=str(journal.path),
        remedy="wait until nobody uses it; `iostudy restore` tries again",
    )
    return Recovery(UndoResult(failures=(failure,)))


def _is_superseded(steps: Sequence[JournaledChange], path: Path) -> bool:
    """Return whether a newer journal contains an attribute of these changes.

    The newer one is restored first, because its original values are the results of these changes.
    It was created after the journals were listed.
    """
    attributes = _attributes(steps)
    newer = (journal for journal in journal_paths(path.parent) if journal.name > path.name)
    return any(attributes & _attributes_in(journal) for journal in newer)


def _attributes_in(path: Path) -> set[tuple[Attributes, str]]:
    """Return the attributes in a journal; none if it is unreadable."""
    try:
        return _attributes(_rebuild(read_journal(path))[0])
    except RestoreError:
        return set()


def _attributes(steps: Sequence[JournaledChange]) -> set[tuple[Attributes, str]]:
    changes = (step.change for step in steps)
    attribute_changes = (change for change in changes if isinstance(change, AttributeChange))
    return {(change.owner, name) for change in attribute_changes for name in change.before}


def _finish(journal: Journal, contents: JournalContents, result: UndoResult) -> UndoResult:
    """Remove a completed journal; otherwise return its failures."""
    if contents.lost_lines:
        where = journal.path if result.failures else journal.quarantine()
        return UndoResult(failures=(_damaged(where, contents),))
    if not result.failures:
        journal.remove()
    return UndoResult()


def _rebuild(
    contents: JournalContents,
) -> tuple[Sequence[JournaledChange], tuple[RestoreError, ...]]:
    """Return the changes that can be undone, and the failures of the others."""
    steps, failures = [], []
    for entry in contents.pending:
        try:
            steps.append(
                JournaledChange(entry.number, kinds.rebuild_change(entry.kind, entry.record))
            )
        except RestoreError as error:
            failures.append(error)
    return steps, tuple(failures)


def _damaged(where: Path, contents: JournalContents) -> RestoreError:
    return RestoreError(
        "to restore every change in the journal",
        found=f"{contents.lost_lines}; all other changes are restored, except for errors shown "
        "here. Changes in lost lines may still be in force",
        where=str(where),
        remedy="inspect the file, which iostudy keeps, and the settings that it names",
    )
