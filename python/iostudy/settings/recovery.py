"""Putting back what other commands have left: after a crash, or held on purpose."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from iostudy.errors import RestoreError
from iostudy.settings import kinds
from iostudy.settings.journal import Contents, Journal, Owner, journal_paths, parse
from iostudy.settings.state import state_directory
from iostudy.settings.transaction import Step, Undoing, undo


@dataclass(frozen=True)
class Recovery:
    """What was put back, what could not be, and the commands that are at work and left alone."""

    undoing: Undoing = field(default_factory=Undoing)
    live: tuple[Owner, ...] = ()

    def __add__(self, other: Recovery) -> Recovery:
        return Recovery(self.undoing + other.undoing, self.live + other.live)


def restore_stale(directory: Path | None = None) -> Recovery:
    """Undo what commands that are gone have left, but for what is held on purpose.

    Every command that changes something calls this first, and says what was put back.
    """
    return _restore_all(directory, held=False, force=False)


def restore_all(directory: Path | None = None, *, force: bool = False) -> Recovery:
    """Undo everything, the newest first, also what `iostudy set` holds.

    ``force`` overwrites what somebody else has changed meanwhile.
    """
    return _restore_all(directory, held=True, force=force)


def _restore_all(directory: Path | None, *, held: bool, force: bool) -> Recovery:
    paths = journal_paths(directory or state_directory())
    found = (_restore(path, held=held, force=force) for path in paths)
    return sum(found, Recovery())


def _restore(path: Path, *, held: bool, force: bool) -> Recovery:
    journal = Journal.take(path)
    if journal is None:
        return Recovery(live=_owner_of(path))
    contents = journal.contents()
    if contents.committed and not held:
        journal.close()
        return Recovery()
    undoing = _undo_entries(journal, contents, force=force)
    if undoing.failures:
        journal.close()
    elif contents.damaged:
        undoing += Undoing(failures=(_damaged(journal, contents),))
    else:
        journal.remove()
    return Recovery(undoing)


def _undo_entries(journal: Journal, contents: Contents, *, force: bool) -> Undoing:
    steps, failures = [], []
    for entry in contents.pending:
        try:
            steps.append(Step(entry.number, kinds.rebuild(entry.kind, entry.record)))
        except RestoreError as error:
            failures.append(error)
    return undo(journal, steps, force=force) + Undoing(failures=tuple(failures))


def _owner_of(path: Path) -> tuple[Owner, ...]:
    """The owner who holds the journal; none if it has ended meanwhile."""
    try:
        owner = parse(path.read_bytes()).owner
    except FileNotFoundError:
        return ()
    return (owner,) if owner else ()


def _damaged(journal: Journal, contents: Contents) -> RestoreError:
    aside = journal.set_aside()
    return RestoreError(
        "to restore every change in the journal",
        found=f"damaged lines ({', '.join(map(str, contents.damaged))}); all others are restored",
        where=str(aside),
        remedy="the file was kept under this name: look at it and at the settings it names",
    )
