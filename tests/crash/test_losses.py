"""Tests of recovery from a lost device or a damaged journal: the rest is restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.settings import kinds
from iostudy.settings.change import Setting
from iostudy.settings.transaction.journal import Journal, JournalMode
from iostudy.settings.transaction.recovery import restore_stale
from tests.fixtures_loop import loop_disk, queue_state, replace_loop

pytestmark = pytest.mark.root

ATTRIBUTES = {"read_ahead_kb": "64", "nr_requests": "100", "nomerges": "2"}
VALUES = {f"block.{name}": value for name, value in ATTRIBUTES.items()}


def leave(state: Path, *loops: str) -> Path:
    """The journal of a command that was killed after it had changed each of the loop devices."""
    journal = Journal.create(state, JournalMode.STUDY, "iostudy run old")
    for loop in loops:
        wanted: dict[Setting, str] = {}
        for name, value in VALUES.items():
            wanted |= dict.fromkeys(kinds.bind(name, loop), value)
        changes = kinds.prepare_changes(wanted)
        journal.log_changes(changes)
        for change in changes:
            change.apply()
    journal.close()
    return journal.path


def test_a_device_that_has_gone_is_named_and_the_other_restored(loop: str, state_dir: Path) -> None:
    before = queue_state(loop)
    with loop_disk() as other:
        leave(state_dir, loop, other)
        replace_loop(other)
        undoing = restore_stale().undo_result
    (loss,) = [text for text in map(str, undoing.restored_values) if text.startswith(f"{other}: ")]
    assert "and its changes with it" in loss
    assert not undoing.failures
    assert queue_state(loop) == before


def test_a_journal_cut_at_any_byte_restores_what_its_whole_lines_announce(
    loop: str, state_dir: Path
) -> None:
    before = queue_state(loop)
    path = leave(state_dir, loop)
    whole = path.read_bytes()
    changed = queue_state(loop)
    for length in range(0, len(whole) - 1, 37):
        path.write_bytes(whole[:length])
        undoing = restore_stale().undo_result
        assert undoing.restored_values == ()
        assert (
            "missing lines" in undoing.failures[0].found or "damaged" in undoing.failures[0].found
        )
        assert queue_state(loop) == changed
    path.write_bytes(whole)
    assert len(restore_stale().undo_result.restored_values) >= len(VALUES)
    assert queue_state(loop) == before
