"""Putting back what other commands have left: after a crash, or held on purpose."""

from __future__ import annotations

import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from iostudy.errors import BusyError, RestoreError
from iostudy.host.lock_holders import Process, find_users
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeChange, Attributes
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.journal import (
    Contents,
    Journal,
    Owner,
    journal_paths,
    read,
    unfinished_paths,
    unreadable,
)
from iostudy.settings.transaction.locks import lock_touched
from iostudy.settings.transaction.state import state_directory
from iostudy.settings.transaction.transaction import Step, UndoResult, undo
from iostudy.settings.transaction.uninterrupted import uninterrupted

PATIENCE_SECONDS = 5.0
"""How long a command of an owner that has ended is waited for; it was killed with the owner."""

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Recovery:
    """What was put back, what could not be, and what was left alone because somebody is at work."""

    undoing: UndoResult = field(default_factory=UndoResult)
    left_alone: tuple[str, ...] = ()

    def within_reach(self) -> Recovery:
        """The same without the failures that wait for a mount."""
        failures = (e for e in self.undoing.failures if e not in self.undoing.out_of_reach)
        return replace(self, undoing=replace(self.undoing, failures=tuple(failures)))

    def __add__(self, other: Recovery) -> Recovery:
        return Recovery(self.undoing + other.undoing, self.left_alone + other.left_alone)


def restore_stale(directory: Path | None = None) -> Recovery:
    """Undo what commands that are gone have left, but for what is held on purpose.

    Every command that changes something calls this first, and says what was put back.
    """
    return _restore_all(directory, ConflictPolicy.REPORT, held=False)


def restore_all(
    directory: Path | None = None, foreign: ConflictPolicy = ConflictPolicy.REPORT
) -> Recovery:
    """Undo everything, the newest first, also what `iostudy set` holds.

    ``foreign`` decides what becomes of values that somebody else has set meanwhile.
    """
    return _restore_all(directory, foreign, held=True)


def restore_kind(kind: str, directory: Path | None = None) -> Recovery:
    """Undo what is held on purpose by journals that name this kind of change alone.

    A journal that cannot be read is none of them; `restore_stale` has told of it.
    """
    paths = journal_paths(directory or state_directory())
    own = [path for path in paths if _kinds_in(path) == {kind}]
    return sum((_restore(path, ConflictPolicy.REPORT, held=True) for path in own), Recovery())


def require_restored(devices: AbstractSet[str], directory: Path | None = None) -> None:
    """RestoreError if a command that is gone has left a change of these devices.

    The names are those of `Change.touches`. The caller holds the locks of the devices, so that no
    live study has announced such a change. A journal that cannot be read was reported before.
    """
    for path in journal_paths(directory or state_directory()):
        for step in _left_in(path):
            touched = devices & set(step.change.touches())
            if touched:
                raise RestoreError(
                    f"{', '.join(sorted(touched))} as it was before iostudy changed it",
                    found=f"not restored yet: {step.change.describe()}",
                    where=str(path),
                    remedy="see `iostudy restore` for what it takes to restore it",
                )


def _left_in(path: Path) -> Sequence[Step]:
    """The changes in a journal that are not held on purpose; none where it is unreadable."""
    try:
        contents = read(path)
        return () if contents.committed else _rebuild(contents)[0]
    except RestoreError:
        return ()


def _kinds_in(path: Path) -> set[str]:
    try:
        return {entry.kind for entry in read(path).pending}
    except RestoreError:
        return set()


def _restore_all(directory: Path | None, foreign: ConflictPolicy, *, held: bool) -> Recovery:
    directory = directory or state_directory()
    paths = (*journal_paths(directory), *unfinished_paths(directory))
    return sum((_restore(path, foreign, held=held) for path in paths), Recovery())


def _restore(path: Path, foreign: ConflictPolicy, *, held: bool) -> Recovery:
    """One journal; waits a bounded time for commands of an owner that has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (recovery := _restore_unlocked(path, foreign, held=held)) is None:
        try:
            lock = _Lock.read(path)
        except RestoreError as error:
            return Recovery(UndoResult(failures=(error,)))
        if lock.is_owners or time.monotonic() > deadline:
            return lock.recovery()
        time.sleep(_POLL_SECONDS)
    return recovery


def _restore_unlocked(path: Path, foreign: ConflictPolicy, *, held: bool) -> Recovery | None:
    """None while another process holds the journal.

    Whatever is wrong with it does not keep the others from being restored.
    """
    with uninterrupted():
        try:
            journal = Journal.take(path)
            if journal is None:
                return None
            with closing(journal):
                return _restore_contents(journal, foreign, held=held)
        except Exception as error:  # noqa: BLE001 - kept as the cause, and shown
            return Recovery(UndoResult(failures=(unreadable(path, error),)))


@dataclass(frozen=True)
class _Lock:
    """A journal that another process holds: its owner, and who has it open.

    Nobody is seen to have it open if the lock was given up meanwhile, or in another PID namespace.
    """

    path: Path
    owner: Owner | None
    users: tuple[Process, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(path, read(path).owner, find_users(path))

    @property
    def is_owners(self) -> bool:
        """Whether the owner lives; a command that it ran may outlive it."""
        return self.owner is not None and self.owner.pid in {user.pid for user in self.users}

    def recovery(self) -> Recovery:
        """A live owner is left alone; other processes are a failure that names them."""
        if self.owner is None:
            return Recovery()
        if self.is_owners or not self.users:
            return Recovery(left_alone=(f"{self.owner} is at work",))
        failure = RestoreError(
            f"to restore what {self.owner} has changed, which has ended",
            found=f"{', '.join(map(str, self.users))} still works on it",
            where=str(self.path),
            remedy="wait until it has ended, or end it; `iostudy restore` tries again",
        )
        return Recovery(UndoResult(failures=(failure,)))


def _restore_contents(journal: Journal, foreign: ConflictPolicy, *, held: bool) -> Recovery:
    if journal.is_unfinished:
        journal.remove()
        return Recovery()
    contents = journal.contents()
    if contents.committed and not held:
        return Recovery()
    steps, failures = _rebuild(contents)
    try:
        # Who holds the settings is gone, but a study may be at work with them.
        with lock_touched(name for step in steps for name in step.change.touches()):
            if _are_covered(steps, journal.path):
                return Recovery(left_alone=(f"{_described(steps)}: changed again since",))
            undoing = undo(journal, steps, foreign) + UndoResult(failures=failures)
    except BusyError as busy:
        return Recovery(left_alone=(f"{_described(steps)}: {busy.found}",))
    return Recovery(undoing + _finish(journal, contents, undoing))


def _described(steps: Sequence[Step]) -> str:
    return "; ".join(step.change.describe() for step in steps)


def _are_covered(steps: Sequence[Step], path: Path) -> bool:
    """Whether a newer journal holds an attribute of these steps.

    What it would put back is what these steps have made of it, so it comes first; whoever made it
    has come between since the journals were listed.
    """
    own = _attributes(steps)
    newer = (each for each in journal_paths(path.parent) if each.name > path.name)
    return any(own & _attributes_in(each) for each in newer)


def _attributes_in(path: Path) -> set[tuple[Attributes, str]]:
    """Those of a journal; none where it is unreadable, which has been told."""
    try:
        return _attributes(_rebuild(read(path))[0])
    except RestoreError:
        return set()


def _attributes(steps: Sequence[Step]) -> set[tuple[Attributes, str]]:
    changes = (step.change for step in steps)
    attribute_changes = (each for each in changes if isinstance(each, AttributeChange))
    return {(each.owner, name) for each in attribute_changes for name in each.before}


def _finish(journal: Journal, contents: Contents, undoing: UndoResult) -> UndoResult:
    """Take away a journal that has nothing left to do; what is wrong with it otherwise."""
    if contents.loss:
        where = journal.path if undoing.failures else journal.set_aside()
        return UndoResult(failures=(_damaged(where, contents),))
    if not undoing.failures:
        journal.remove()
    return UndoResult()


def _rebuild(contents: Contents) -> tuple[Sequence[Step], tuple[RestoreError, ...]]:
    """The steps that can be undone, and why others cannot."""
    steps, failures = [], []
    for entry in contents.pending:
        try:
            steps.append(Step(entry.number, kinds.rebuild(entry.kind, entry.record)))
        except RestoreError as error:
            failures.append(error)
    return steps, tuple(failures)


def _damaged(where: Path, contents: Contents) -> RestoreError:
    return RestoreError(
        "to restore every change in the journal",
        found=f"{contents.loss}; all others are restored, as far as no other error is shown. "
        "What a lost line announced may still hold",
        where=str(where),
        remedy="look at the file, which is kept, and at the settings it names",
    )
