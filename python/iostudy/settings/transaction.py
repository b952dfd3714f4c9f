"""Changes of the host that are undone when their owner ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from iostudy.errors import RestoreError
from iostudy.settings.change import Change
from iostudy.settings.journal import Journal, Mode, command_line
from iostudy.settings.state import state_directory


@dataclass(frozen=True)
class Step:
    """A change that has been announced in the journal under a number."""

    number: int
    change: Change


@dataclass(frozen=True)
class Undoing:
    """What became of undoing several changes: what was put back, in words, and what was not."""

    put_back: tuple[str, ...] = ()
    failures: tuple[RestoreError, ...] = ()

    def __add__(self, other: Undoing) -> Undoing:
        return Undoing(self.put_back + other.put_back, self.failures + other.failures)

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


def undo(journal: Journal, steps: Sequence[Step], *, force: bool = False) -> Undoing:
    """Undo the steps in reverse; one that fails does not keep the others from being undone."""
    put_back: list[str] = []
    failures: list[RestoreError] = []
    for step in reversed(steps):
        try:
            put_back += step.change.undo(force=force)
            journal.undone(step.number)
        except RestoreError as error:
            failures.append(error)
    return Undoing(tuple(put_back), tuple(failures))


@dataclass
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
            self._journal.commit()
            self._journal.close()
        self._journal, self._steps = None, []

    def restore(self, *, force: bool = False) -> tuple[str, ...]:
        """Undo everything now; what was put back, in words. RestoreError names what was not."""
        undoing = self._undo_from(0, force=force)
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close() if undoing.failures else journal.remove()
        undoing.check()
        return undoing.put_back

    def _undo_from(self, kept: int, *, force: bool = False) -> Undoing:
        if self._journal is None:
            return Undoing()
        undoing = undo(self._journal, self._steps[kept:], force=force)
        if not undoing.failures:
            del self._steps[kept:]
        return undoing
