"""The tunables of every scheduler of this kernel: written, read, and back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError
from iostudy.host.devices import parse_scheduler, read_device, read_scheduler
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Change, Setting
from iostudy.settings.definitions.schedulers import BFQ, KYBER, MQ_DEADLINE
from iostudy.settings.transaction.transaction import Transaction
from tests.fixtures_loop import queue_state

pytestmark = pytest.mark.root

# In the range, a multiple of any kernel tick, and the default of none.
ANOTHER = {"0": "1", "1": "0"}
TIME = "200"


def put(loop: str, attribute: str, value: str) -> None:
    Path("/sys/block", loop, "queue", attribute).write_text(value)


def bound(name: str, loop: str) -> Setting:
    (setting,) = kinds.bind(name, loop)
    return setting


def changes(loop: str, **values: str) -> tuple[Change, ...]:
    """Names with ``__`` for the dots, since they are keywords."""
    names = {name.replace("__", "."): value for name, value in values.items()}
    return kinds.prepare_changes({bound(f"block.{n}", loop): value for n, value in names.items()})


def choose(loop: str, scheduler: str | None) -> None:
    """With defaults; skips where the kernel has no such scheduler."""
    offered = read_scheduler(read_device(loop))
    if scheduler is None or offered is None or scheduler not in offered.available:
        pytest.skip(f"this kernel has no {scheduler}")
    put(loop, "scheduler", "none")
    put(loop, "scheduler", scheduler)


@pytest.mark.parametrize("definition", (*MQ_DEADLINE, *BFQ, *KYBER), ids=lambda d: d.name)
def test_every_tunable_is_written_read_and_restored(loop: str, definition) -> None:  # type: ignore[no-untyped-def]
    choose(loop, definition.condition.values[0])
    before = queue_state(loop)
    setting = bound(definition.name, loop)
    value = definition.parse(ANOTHER.get(setting.read(), TIME) if definition.choices else TIME)
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes({setting: value}))
        assert setting.read() == value
        assert queue_state(loop) != before
    assert queue_state(loop) == before


@pytest.mark.parametrize("scheduler", ["mq-deadline", "bfq", "kyber"])
def test_every_tunable_of_the_kernel_has_a_definition(loop: str, scheduler: str) -> None:
    choose(loop, scheduler)
    found = {name for name in queue_state(loop) if name.startswith("iosched/")}
    known = [catalog.get(name) for name in catalog.names()]
    of_it = (d for d in known if d.condition and d.condition.holds(scheduler))
    assert found <= {d.attribute for d in of_it}  # type: ignore[attr-defined]


@pytest.mark.parametrize("before", ["none", "mq-deadline", "kyber"])
def test_scheduler_and_tunables_in_one_change(loop: str, before: str) -> None:
    choose(loop, before)
    state = queue_state(loop)
    wanted = {"bfq.slice_idle_us": "2500", "bfq.timeout_sync": "200", "scheduler": "bfq"}
    settings = {bound(f"block.{name}", loop): value for name, value in wanted.items()}
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(settings))
        assert {setting: setting.read() for setting in settings} == settings
    assert queue_state(loop) == state


def test_the_queue_depth_before_the_share_of_it(loop: str) -> None:
    """The kernel sets async_depth anew with nr_requests."""
    put(loop, "iosched/async_depth", "17")
    before = queue_state(loop)
    wanted = {"nr_requests": "100", "mq-deadline.async_depth": "50"}
    settings = {bound(f"block.{name}", loop): value for name, value in wanted.items()}
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(settings))
        assert {setting: setting.read() for setting in settings} == settings
    assert queue_state(loop) == before


@pytest.mark.parametrize("ours", ["0", "1"])
def test_strict_guarantees_raise_the_idling(loop: str, ours: str) -> None:
    choose(loop, "bfq")
    put(loop, "iosched/strict_guarantees", ANOTHER[ours])
    put(loop, "iosched/slice_idle_us", "2500")
    before = queue_state(loop)
    with Transaction() as transaction:
        transaction.apply(*changes(loop, bfq__strict_guarantees=ours, bfq__slice_idle="3"))
        assert queue_state(loop)["iosched/slice_idle_us"] == "3000"
    assert queue_state(loop) == before


def test_values_raised_by_strict_guarantees_are_restored(loop: str) -> None:
    choose(loop, "bfq")
    put(loop, "iosched/slice_idle_us", "2500")
    before = queue_state(loop)
    with Transaction() as transaction:
        transaction.apply(*changes(loop, bfq__strict_guarantees="1"))
        assert queue_state(loop)["iosched/slice_idle_us"] == "8000"
    assert queue_state(loop) == before


def test_half_a_millisecond_comes_back(loop: str) -> None:
    choose(loop, "bfq")
    put(loop, "iosched/slice_idle_us", "2500")
    before = queue_state(loop)
    with Transaction() as transaction:
        transaction.apply(*changes(loop, bfq__slice_idle="2"))
        assert queue_state(loop)["iosched/slice_idle_us"] == "2000"
    assert queue_state(loop) == before


def test_a_time_between_two_ticks_is_refused(loop: str) -> None:
    choose(loop, "mq-deadline")
    put(loop, "iosched/read_expire", "1")
    tick = int(queue_state(loop)["iosched/read_expire"])
    if tick == 1:
        pytest.skip("this kernel's tick is a millisecond")
    before = queue_state(loop)
    change = kinds.prepare_changes({bound("block.mq-deadline.read_expire", loop): "101"})
    with pytest.raises(SettingError, match="the actual value is"), Transaction() as transaction:
        transaction.apply(*change)
    assert queue_state(loop) == before


@pytest.mark.parametrize(
    "wanted",
    [
        {"block.bfq.slice_idle": "4"},
        {"block.deadline.read_expire": "200"},
        {"block.scheduler": "bfq", "block.mq-deadline.read_expire": "200"},
    ],
)
def test_a_tunable_of_another_scheduler_is_refused(loop: str, wanted: dict[str, str]) -> None:
    before = queue_state(loop)
    with pytest.raises(SettingError, match="there only while") as caught:
        kinds.prepare_changes({bound(name, loop): value for name, value in wanted.items()})
    assert "with it, or leave it out" in caught.value.remedy
    assert queue_state(loop) == before


def test_a_tunable_of_another_scheduler_is_not_read(loop: str) -> None:
    choose(loop, "bfq")
    assert bound("block.bfq.slice_idle", loop).read() == "8"
    with pytest.raises(SettingError, match="the scheduler is bfq"):
        bound("block.cfq.slice_idle", loop).read()


def test_a_foreign_tunable_is_left_alone(loop: str) -> None:
    (change,) = kinds.prepare_changes({bound("block.mq-deadline.fifo_batch", loop): "8"})
    change.apply()
    put(loop, "iosched/fifo_batch", "4")
    with pytest.raises(RestoreError, match=r"block\.mq-deadline\.fifo_batch is 4"):
        change.undo()
    assert parse_scheduler(queue_state(loop)["scheduler"]).current == "mq-deadline"
    assert queue_state(loop)["iosched/fifo_batch"] == "4"
