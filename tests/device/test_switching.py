"""Switches among levels on a real queue, and what undoes them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError
from iostudy.settings import kinds
from iostudy.settings.change import ConflictPolicy, Setting
from iostudy.settings.switching import Switcher
from iostudy.settings.transaction.journal import journal_paths, parse_journal
from iostudy.settings.transaction.recovery import restore_all, restore_stale
from iostudy.settings.transaction.transaction import Transaction
from tests.fixtures_loop import queue_state

pytestmark = pytest.mark.root

SCHEDULERS = [{"block.scheduler": each} for each in ("mq-deadline", "none", "kyber", "bfq")]


@pytest.fixture
def tuned(loop: str) -> str:
    """A queue whose values differ from those that a new scheduler gives."""
    for name, value in {"nr_requests": "100", "iosched/read_expire": "120"}.items():
        attribute(loop, name).write_text(value)
    return loop


def attribute(loop: str, name: str) -> Path:
    return Path("/sys/block") / loop / "queue" / name


def bound(loop: str, levels: Sequence[dict[str, str]]) -> list[dict[Setting, str]]:
    return [
        {setting: value for name, value in level.items() for setting in kinds.bind(name, loop)}
        for level in levels
    ]


@contextmanager
def switched(loop: str, levels: Sequence[dict[str, str]]) -> Iterator[Switcher]:
    changes = kinds.prepare_switching(bound(loop, levels))
    with Transaction() as transaction, transaction.apply_temporarily(*changes):
        yield Switcher(changes)


def test_each_level_is_what_a_trial_makes_of_it(tuned: str) -> None:
    states = []
    for level in bound(tuned, SCHEDULERS):
        with (
            Transaction() as transaction,
            transaction.apply_temporarily(*kinds.prepare_changes(level)),
        ):
            states.append(queue_state(tuned))
    before = queue_state(tuned)
    order = [number for _ in range(5) for number in random.Random(1).sample(range(4), 4)]
    with switched(tuned, SCHEDULERS) as switcher:
        assert queue_state(tuned) == states[0]
        for level in order:
            switcher.switch(level)
            assert queue_state(tuned) == states[level], SCHEDULERS[level]
    assert queue_state(tuned) == before


def test_one_record_before_the_first_switch(loop: str, state_dir: Path) -> None:
    with switched(loop, SCHEDULERS) as switcher:
        (path,) = journal_paths(state_dir)
        before = path.read_bytes()
        (entry,) = parse_journal(before).pending
        assert [level["scheduler"] for level in entry.record["levels"]] == [
            level["block.scheduler"] for level in SCHEDULERS
        ]
        switcher.switch(2)
        switcher.switch(1)
        assert path.read_bytes() == before
    assert journal_paths(state_dir) == ()


def test_any_level_is_ours_to_another_process(tuned: str) -> None:
    before = queue_state(tuned)
    for level in range(len(SCHEDULERS)):
        changes = kinds.prepare_switching(bound(tuned, SCHEDULERS))
        entry = changes[0]
        for change in changes:
            change.apply()
        Switcher(changes).switch(level)
        kinds.rebuild_change(entry.kind, entry.record()).undo()
        assert queue_state(tuned) == before


@pytest.mark.parametrize(
    ("name", "value"), [("scheduler", "kyber"), ("nr_requests", "77"), ("nr_requests", "256")]
)
def test_a_foreign_change_stops(tuned: str, name: str, value: str) -> None:
    """Also one to a value of another level, and one of what a level leaves to the kernel."""
    with (
        pytest.raises((SettingError, RestoreError)) as raised,
        switched(tuned, SCHEDULERS) as switcher,
    ):
        switcher.switch(3)
        switcher.switch(0)
        attribute(tuned, name).write_text(value)
        switcher.switch(1)
    error = raised.value
    assert isinstance(error, SettingError) or isinstance(error.__context__, SettingError)


def test_a_foreign_value_stays_until_someone_decides(loop: str) -> None:
    levels = [{"block.nomerges": value} for value in ("0", "1")]
    with pytest.raises(RestoreError), switched(loop, levels) as switcher:
        switcher.switch(1)
        attribute(loop, "nomerges").write_text("2")
    assert attribute(loop, "nomerges").read_text().strip() == "2"
    assert "nomerges is 2" in str(restore_stale().undo_result.failures[0])
    restore_all(policy=ConflictPolicy.OVERWRITE).undo_result.check()
    assert attribute(loop, "nomerges").read_text().strip() == "0"


def test_a_value_that_no_switch_resets_is_refused(loop: str) -> None:
    """Both levels have bfq: the second would keep the number of requests of the first."""
    bfq = {"block.scheduler": "bfq"}
    levels = [bfq | {"block.nr_requests": "77"}, bfq]
    with pytest.raises(SettingError, match="keeps the value"):
        kinds.prepare_switching(bound(loop, levels))
    other = [{"block.scheduler": "none"}, bfq | {"block.nr_requests": "77"}]
    with switched(loop, other) as switcher:
        switcher.switch(1)
        assert attribute(loop, "nr_requests").read_text().strip() == "77"


def test_read_ahead_is_refused(loop: str) -> None:
    levels = [{"block.read_ahead_kb": value} for value in ("128", "0")]
    with pytest.raises(SettingError, match="an open file keeps the read-ahead"):
        kinds.prepare_switching(bound(loop, levels))
