"""Levels on real queues: unchanged, on several devices, and missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import BusyError, SettingError
from iostudy.node.levels import Levels, lock_places, read_back
from iostudy.settings.transaction.transaction import Transaction
from iostudy.study.combinations import Configuration, Factor, FactorKind
from tests.fixtures_loop import queue_state

pytestmark = pytest.mark.root


@pytest.fixture(autouse=True)
def _own_state(state_dir: Path) -> None:
    """No test touches the journals of this host."""


def put(name: str, attribute: str, value: str) -> None:
    (Path("/sys/block") / name / "queue" / attribute).write_text(value)


def levels_of(name: str, transaction: Transaction) -> Levels:
    return Levels(transaction, (Path("/dev") / name,))


def configuration(places: dict[str, tuple[str, ...]] | None = None, **settings: str):
    named = {f"block.{name}": value for name, value in settings.items()}
    return Configuration("any", named, {}, places or {})


def test_as_found_level_is_read_and_not_written(loop):
    put(loop, "nr_requests", "77")
    before = queue_state(loop)
    wanted = configuration(nr_requests="as-found", read_ahead_kb="64")
    with Transaction() as transaction, levels_of(loop, transaction).applied(wanted) as held:
        assert read_back(held) == {
            f"block.nr_requests@{loop}": "77",
            f"block.read_ahead_kb@{loop}": "64",
        }
    assert queue_state(loop) == before


def test_a_configuration_that_is_as_found_needs_no_journal(loop, state_dir):
    with Transaction() as transaction:
        with levels_of(loop, transaction).applied(configuration(scheduler="as-found")) as held:
            assert read_back(held) == {f"block.scheduler@{loop}": "mq-deadline"}
        assert not state_dir.exists()


@pytest.mark.parametrize("scheduler", ["none", "bfq", "mq-deadline"])
def test_as_found_tunable_follows_the_scheduler_of_the_trial(loop, scheduler):
    put(loop, "nr_requests", "77")
    before = queue_state(loop)
    wanted = configuration(scheduler=scheduler, nr_requests="as-found")
    with Transaction() as transaction, levels_of(loop, transaction).applied(wanted) as held:
        found = read_back(held)[f"block.nr_requests@{loop}"]
        assert found == queue_state(loop)["nr_requests"]
        assert (found == "77") is (scheduler == "mq-deadline")
    assert queue_state(loop) == before


def test_change_of_an_as_found_level_is_an_error(loop):
    wanted = configuration(nr_requests="as-found")
    with Transaction() as transaction, levels_of(loop, transaction).applied(wanted) as held:
        put(loop, "nr_requests", "99")
        with pytest.raises(SettingError, match="it is 99 at its end"):
            read_back(held)


def test_one_level_holds_on_several_devices(two_loops):
    before = [queue_state(name) for name in two_loops]
    wanted = configuration({"block.scheduler": two_loops}, scheduler="bfq")
    with Transaction() as transaction, levels_of("null", transaction).applied(wanted) as held:
        assert read_back(held) == {f"block.scheduler@{name}": "bfq" for name in two_loops}
    assert [queue_state(name) for name in two_loops] == before


def test_a_tunable_comes_with_its_scheduler(two_loops):
    before = [queue_state(name) for name in two_loops]
    on = {"block.scheduler": two_loops, "block.bfq.slice_idle": two_loops}
    settings = {"block.bfq.slice_idle": "3", "block.scheduler": "bfq"}
    wanted = Configuration("any", settings, {}, on)
    with Transaction() as transaction, levels_of("null", transaction).applied(wanted) as held:
        found = read_back(held)
    assert {found[f"block.bfq.slice_idle@{name}"] for name in two_loops} == {"3"}
    assert [queue_state(name) for name in two_loops] == before


@pytest.mark.parametrize("level", ["4", "as-found"])
def test_a_tunable_without_its_scheduler_names_the_one_there_is(loop, level):
    wanted = Configuration("any", {"block.bfq.slice_idle": level}, {})
    with (
        Transaction() as transaction,
        pytest.raises(SettingError) as caught,
        levels_of(loop, transaction).applied(wanted),
    ):
        pytest.fail("applied")
    assert f"block.bfq.slice_idle@{loop}" in caught.value.wanted
    assert caught.value.found == "the scheduler is mq-deadline"
    assert "add `block.scheduler: [bfq]` to the factors" in caught.value.remedy


def test_another_schedulers_tunable_of_the_same_name_is_not_taken_for_it(loop):
    wanted = Configuration("any", {"block.deadline.read_expire": "as-found"}, {})
    with (
        Transaction() as transaction,
        pytest.raises(SettingError, match="mq-deadline"),
        levels_of(loop, transaction).applied(wanted),
    ):
        pytest.fail("applied")


def test_several_devices_offer_what_all_of_them_do(two_loops, monkeypatch):
    one, _ = two_loops
    with Transaction() as transaction:
        levels = levels_of(one, transaction)
        both = levels.offered("block.scheduler", two_loops)
        assert both == levels.offered("block.scheduler")
        assert both[0] == "none"
        settings = levels.bind("block.scheduler", two_loops)
        owner = type(settings[0].owner)
        available_values = owner.available_values
        monkeypatch.setattr(
            owner,
            "available_values",
            lambda self, name: available_values(self, name)[: None if self.name == one else 1],
        )
        assert len(levels.offered("block.scheduler", two_loops)) == 1


def test_the_target_and_all_other_places_are_locked(two_loops):
    target, other = two_loops
    factor = Factor("block.scheduler", FactorKind.SETTING, (), on=(other,))
    with lock_places([Path("/dev") / target], [factor]):
        for device in two_loops:
            with pytest.raises(BusyError, match=device), lock_places([Path("/dev") / device], []):
                pytest.fail("locked twice")
