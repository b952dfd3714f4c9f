import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.errors import RestoreError
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.deferred_signals import defer_signals, run_or_defer
from iostudy.settings.transaction.journal import journal_paths
from iostudy.settings.transaction.transaction import Transaction, restore_open
from tests.settings.note import FileNote


class SimulatedSignal(BaseException):
    pass


def end() -> None:
    raise SimulatedSignal


@pytest.fixture(autouse=True)
def _ends_at_once() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, lambda *_: run_or_defer(end))
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def notes(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_text("original")
    return paths


class SignalledNote(FileNote):
    """A signal comes while it is being undone, handed to another thread of the process."""

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        thread = threading.Thread(target=signal.raise_signal, args=[signal.SIGTERM])
        thread.start()
        thread.join()
        return super().undo(policy)


def struck(path: Path) -> SignalledNote:
    return SignalledNote(str(path), "original", "new")


def test_a_signal_waits_for_the_outermost_section() -> None:
    reached = []
    with pytest.raises(SimulatedSignal), defer_signals():
        with defer_signals():
            signal.raise_signal(signal.SIGTERM)
            reached.append("inner")
        reached.append("outer")
    assert reached == ["inner", "outer"]
    with pytest.raises(SimulatedSignal):
        signal.raise_signal(signal.SIGTERM)


def test_the_section_of_another_thread_holds_nothing_back() -> None:
    entered, leave = threading.Event(), threading.Event()

    def inside() -> None:
        with defer_signals():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=inside)
    thread.start()
    entered.wait()
    try:
        with pytest.raises(SimulatedSignal):
            signal.raise_signal(signal.SIGTERM)
    finally:
        leave.set()
        thread.join()


def test_a_signal_while_restoring_comes_after_it(notes: list[Path], state_dir: Path) -> None:
    with pytest.raises(SimulatedSignal), Transaction() as transaction:
        transaction.apply(*map(struck, notes))
    assert [path.read_text() for path in notes] == ["original"] * 3
    assert journal_paths(state_dir) == ()


def test_a_failed_restore_is_the_context_of_the_signal(notes: list[Path], state_dir: Path) -> None:
    with pytest.raises(SimulatedSignal) as caught, Transaction() as transaction:
        transaction.apply(*map(struck, notes))
        notes[1].write_text("theirs")
    assert isinstance(caught.value.__context__, RestoreError)
    assert len(journal_paths(state_dir)) == 1


def test_a_transaction_that_was_never_left_is_left_at_the_end(notes: list[Path]) -> None:
    """A signal between the end of the body and the first line of leaving does that."""
    for path in notes:
        Transaction().apply(FileNote.prepare(path, "new"))
    notes[1].write_text("theirs")
    with pytest.raises(RestoreError, match="theirs"):
        restore_open()
    assert [path.read_text() for path in notes] == ["original", "theirs", "original"]
    restore_open()
