"""Changes of the host that are undone when their owner ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from iostudy.errors import OutOfReachError, RestoreError
from iostudy.settings.change import Change, ConflictPolicy, RestoredValue
from iostudy.settings.transaction.deferred_signals import defer_signals
from iostudy.settings.transaction.journal import Journal, JournalMode, command_line
from iostudy.settings.transaction.state import state_directory


@dataclass(frozen=True)
class JournaledChange:
    """A change in the journal, with its number."""

    number: int
    change: Change


@dataclass(frozen=True)
class UndoResult:
    """Result of an undo of several changes: restored values, in words, and failures."""

    restored_values: tuple[str | RestoredValue, ...] = ()
    failures: tuple[RestoreError, ...] = ()

    def __add__(self, other: UndoResult) -> UndoResult:
        return UndoResult(
            self.restored_values + other.restored_values, self.failures + other.failures
        )

    @property
    def out_of_reach(self) -> tuple[OutOfReachError, ...]:
        """Failures that wait for an absent mount or file system, or for another study."""
        return tuple(error for error in self.failures if isinstance(error, OutOfReachError))

    def check(self) -> None:
        """RestoreError if anything was not restored, one for all failures."""
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
    journal: Journal,
    steps: Sequence[JournaledChange],
    policy: ConflictPolicy = ConflictPolicy.REPORT,
) -> UndoResult:
    """Undo the changes in reverse order, with termination signals deferred.

    A failure does not prevent the undo of the others. Failed changes are retried after the others:
    a folder disappears with its disk.
    """
    with defer_signals():
        result, failed = _undo_each(journal, steps, policy)
        if failed and len(failed) < len(steps):
            again, _ = _undo_each(journal, failed, policy)
            return UndoResult(result.restored_values + again.restored_values, again.failures)
    return result


def _undo_each(
    journal: Journal, steps: Sequence[JournaledChange], policy: ConflictPolicy
) -> tuple[UndoResult, tuple[JournaledChange, ...]]:
    """Return the result, and the changes that failed."""
    restored: list[str | RestoredValue] = []
    failures: dict[int, RestoreError] = {}
    for step in reversed(steps):
        try:
            restored += _undo(step.change, policy)
            journal.log_undo(step.number)
        except RestoreError as error:
            failures[step.number] = error
        except Exception as error:  # noqa: BLE001 - kept as the cause, and shown
            failures[step.number] = _unexpected(step.change, error)
    failed = tuple(step for step in steps if step.number in failures)
    return UndoResult(tuple(restored), tuple(failures.values())), failed


def _undo(change: Change, policy: ConflictPolicy) -> tuple[str | RestoredValue, ...]:
    """Undo a change; under ACCEPT, forget a change that is out of reach."""
    try:
        return change.undo(policy)
    except OutOfReachError as error:
        if policy is not ConflictPolicy.ACCEPT:
            raise
        return (f"{change.describe()}: accepted unchanged ({error.found})",)


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
    """Context for changes of the host, which are undone at its end.

    The first change creates the journal, and a complete undo removes it. Failed changes stay in it,
    and the end of the context raises RestoreError. ``commit`` (mode SET) keeps the changes instead.
    ``on_journal`` is called with the path of the journal before the first change.
    """

    mode: JournalMode = JournalMode.STUDY
    command: str = field(default_factory=command_line)
    directory: Path = field(default_factory=state_directory)
    on_journal: Callable[[Path], None] | None = None
    _journal: Journal | None = None
    _steps: list[JournaledChange] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.restore()

    def apply(self, *changes: Change) -> None:
        """Journal the changes with one sync, then apply them in order.

        Errors of ``apply`` propagate; the end of the context undoes partial changes. UsageError if
        no journal can be created.
        """
        if not changes:
            return
        if self._journal is None:
            self._journal = Journal.create(self.directory, self.mode, self.command)
            _open.append(self)
            if self.on_journal is not None:
                self.on_journal(self._journal.path)
        numbers = self._journal.log_changes(changes)
        self._steps += map(JournaledChange, numbers, changes)
        for change in changes:
            change.apply()

    @contextmanager
    def apply_temporarily(self, *changes: Change) -> Iterator[None]:
        """Apply the changes in this context, and undo them at its end.

        It costs one line in the open journal, and is meant for each trial.
        """
        kept = len(self._steps)
        try:
            self.apply(*changes)
            yield
        finally:
            self._undo_from(kept).check()

    def commit(self) -> None:
        """Keep the changes so far, durably, until `iostudy restore` undoes them."""
        if self._journal is not None:
            with defer_signals():
                self._journal.commit()
                self._close(self._journal)

    def restore(
        self, policy: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Undo everything now, and return the restored values. RestoreError names failures.

        Termination signals are deferred.
        """
        if self._journal is None:
            return ()
        with defer_signals():
            result = self._undo_from(0, policy)
            if not result.failures:
                self._journal.remove()
            self._close(self._journal)
            result.check()
        return result.restored_values

    def _close(self, journal: Journal) -> None:
        self._journal, self._steps = None, []
        _open.remove(self)
        journal.close()

    def _undo_from(self, kept: int, policy: ConflictPolicy = ConflictPolicy.REPORT) -> UndoResult:
        if self._journal is None:
            return UndoResult()
        with defer_signals():
            result = undo(self._journal, self._steps[kept:], policy)
            if not result.failures:
                del self._steps[kept:]
        return result


_open: list[Transaction] = []
"""The open transactions of this process that have changed something."""


def restore_open() -> None:
    """End every open transaction, newest first.

    For the end of a command: a signal at the end of a context may have prevented its exit.
    RestoreError if anything was not restored.
    """
    with defer_signals():
        result = UndoResult()
        for transaction in reversed(tuple(_open)):
            try:
                transaction.restore()
            except RestoreError as error:
                result += UndoResult(failures=(error,))
        result.check()
