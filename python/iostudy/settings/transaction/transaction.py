"""Changes of the host that are undone when their owner ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from iostudy.errors import OutOfReachError, RestoreError
from iostudy.settings.change import Change, ConflictPolicy
from iostudy.settings.transaction.journal import Journal, Mode, command_line
from iostudy.settings.transaction.restored_value import RestoredValue
from iostudy.settings.transaction.state import state_directory
from iostudy.settings.transaction.uninterrupted import uninterrupted


@dataclass(frozen=True)
class Step:
    """A change that has been announced in the journal under a number."""

    number: int
    change: Change


@dataclass(frozen=True)
class UndoResult:
    """What became of undoing several changes: what was put back, in words, and what was not."""

    put_back: tuple[str | RestoredValue, ...] = ()
    failures: tuple[RestoreError, ...] = ()

    def __add__(self, other: UndoResult) -> UndoResult:
        return UndoResult(self.put_back + other.put_back, self.failures + other.failures)

    @property
    def out_of_reach(self) -> tuple[OutOfReachError, ...]:
        """The failures that wait for a mount or a file system, which is not here now."""
        return tuple(error for error in self.failures if isinstance(error, OutOfReachError))

    def check(self) -> None:
        """RestoreError if anything was not put back, one for all."""
        if not self.failures:
            return
        if len(self.failures) == 1:
            raise self.failures[0]
        raise RestoreError(
            f"to restore {len(self.failures)} changes",
            found="".join(f"\n  {failure}" for failure in self.failures),
            where="this host",
            remedy="see each of them; `iostudy restore` tries again",
        )


def undo(
    journal: Journal, steps: Sequence[Step], foreign: ConflictPolicy = ConflictPolicy.REPORT
) -> UndoResult:
    """Undo the steps in reverse, which no ending signal cuts short.

    One that fails, in whatever way, does not keep the others from being undone. Those that have
    failed are tried again after the others: a folder goes with the disk that is destroyed.
    """
    with uninterrupted():
        undoing, failed = _undo_each(journal, steps, foreign)
        if failed and len(failed) < len(steps):
            again, _ = _undo_each(journal, failed, foreign)
            return UndoResult(undoing.put_back + again.put_back, again.failures)
    return undoing


def _undo_each(
    journal: Journal, steps: Sequence[Step], foreign: ConflictPolicy
) -> tuple[UndoResult, tuple[Step, ...]]:
    """What became of it, and the steps that have failed."""
    put_back: list[str | RestoredValue] = []
    failures: dict[int, RestoreError] = {}
    for step in reversed(steps):
        try:
            put_back += _undo(step.change, foreign)
            journal.undone(step.number)
        except RestoreError as error:
            failures[step.number] = error
        except Exception as error:  # noqa: BLE001 - kept as the cause, and shown
            failures[step.number] = _unexpected(step.change, error)
    failed = tuple(step for step in steps if step.number in failures)
    return UndoResult(tuple(put_back), tuple(failures.values())), failed


def _undo(change: Change, foreign: ConflictPolicy) -> tuple[str | RestoredValue, ...]:
    """Undo it; what is out of reach is left for good where that is accepted."""
    try:
        return change.undo(foreign)
    except OutOfReachError as error:
        if foreign is not ConflictPolicy.ACCEPT:
            raise
        return (f"{change.describe()}: accepted as it is ({error.found})",)


def _unexpected(change: Change, error: Exception) -> RestoreError:
    failure = RestoreError(
        f"to undo: {change.describe()}",
        found=f"{type(error).__name__}: {error}",
        where="this host",
        remedy="see dmesg; `iostudy restore` tries again",
    )
    failure.__cause__ = error
    return failure


@dataclass(eq=False)
class Transaction:
    """A context in which the host may be changed; leaving it puts everything back.

    The journal is opened with the first change and removed when everything is back. What could not
    be put back stays in it, and leaving raises RestoreError. ``commit`` (mode SET) makes leaving
    keep the changes instead.
    """

    mode: Mode = Mode.STUDY
    command: str = field(default_factory=command_line)
    directory: Path = field(default_factory=state_directory)
    _journal: Journal | None = None
    _steps: list[Step] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.restore()

    def perform(self, *changes: Change) -> None:
        """Announce the changes with one sync, then apply them in order.

        Errors of ``apply`` pass; what has been done by then is undone on leaving. UsageError if no
        journal can be kept.
        """
        if not changes:
            return
        if self._journal is None:
            self._journal = Journal.create(self.directory, self.mode, self.command)
            _open.append(self)
        numbers = self._journal.announce(changes)
        self._steps += map(Step, numbers, changes)
        for change in changes:
            change.apply()

    @contextmanager
    def applied(self, *changes: Change) -> Iterator[None]:
        """The changes hold inside this context, and are undone when it is left.

        It costs one line in the journal that is open anyway: meant for each trial.
        """
        kept = len(self._steps)
        try:
            self.perform(*changes)
            yield
        finally:
            self._undo_from(kept).check()

    def commit(self) -> None:
        """Keep the changes made so far, durably, until `iostudy restore` undoes them."""
        if self._journal is not None:
            with uninterrupted():
                self._journal.commit()
                self._leave(self._journal)

    def restore(
        self, foreign: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Undo everything now; what was put back. RestoreError names what was not.

        An ending signal waits until it is done.
        """
        if self._journal is None:
            return ()
        with uninterrupted():
            undoing = self._undo_from(0, foreign)
            if not undoing.failures:
                self._journal.remove()
            self._leave(self._journal)
            undoing.check()
        return undoing.put_back

    def _leave(self, journal: Journal) -> None:
        self._journal, self._steps = None, []
        _open.remove(self)
        journal.close()

    def _undo_from(self, kept: int, foreign: ConflictPolicy = ConflictPolicy.REPORT) -> UndoResult:
        if self._journal is None:
            return UndoResult()
        with uninterrupted():
            undoing = undo(self._journal, self._steps[kept:], foreign)
            if not undoing.failures:
                del self._steps[kept:]
        return undoing


_open: list[Transaction] = []
"""The transactions of this process that have changed something and have not been left."""


def restore_open() -> None:
    """Leave every transaction that is still open, the newest first.

    For the end of a command: a signal that struck just as a context was being left has kept it from
    being left. RestoreError if anything was not put back.
    """
    with uninterrupted():
        undoing = UndoResult()
        for transaction in reversed(tuple(_open)):
            try:
                transaction.restore()
            except RestoreError as error:
                undoing += UndoResult(failures=(error,))
        undoing.check()
