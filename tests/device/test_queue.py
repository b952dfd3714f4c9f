"""Queue settings on a real kernel: side effects are restored, foreign changes are left."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError
from iostudy.host.devices import read_device
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeChange
from iostudy.settings.change import ConflictPolicy, Setting
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.kinds.queue import Queue
from iostudy.settings.transaction.transaction import Transaction
from tests.fixtures_loop import queue_state, replace_loop

pytestmark = pytest.mark.root


def put(name: str, attribute: str, value: str) -> None:
    (Path("/sys/block") / name / "queue" / attribute).write_text(value)


def bound(setting: str, place: str) -> Setting:
    (found,) = kinds.bind(setting, place)
    return found


def queue(name: str) -> Queue:
    return Queue(DeviceIdentity.from_device(read_device(name)))


def wanted(place: str, values: Mapping[str, str]) -> dict[Setting, str]:
    return {bound(f"block.{name}", place): value for name, value in values.items()}


@pytest.fixture
def unusual(loop: str) -> Iterator[str]:
    """No scheduler, and what a switch would reset is not as the kernel makes it."""
    put(loop, "scheduler", "none")
    put(loop, "nr_requests", "64")
    put(loop, "wbt_lat_usec", "12345")
    yield loop
    put(loop, "wbt_lat_usec", "-1")


def test_read_and_offered(loop: str) -> None:
    scheduler = bound("block.scheduler", loop)
    assert scheduler.label == f"block.scheduler@{loop}"
    assert scheduler.read() == "mq-deadline"
    assert {"none", "mq-deadline"} <= set(scheduler.available_values())
    read_ahead = bound("block.read_ahead_kb", f"/dev/{loop}")
    assert read_ahead.read() == queue_state(loop)["read_ahead_kb"]
    assert read_ahead.available_values() == ()


def test_the_kernel_does_disturb(unusual: str) -> None:
    """Why all this is needed; if it fails, the kernel has become kinder."""
    put(unusual, "scheduler", "mq-deadline")
    put(unusual, "scheduler", "none")
    assert queue_state(unusual)["nr_requests"] != "64"


@pytest.mark.parametrize("scheduler", ["none", "mq-deadline", "kyber", "bfq"])
def test_every_scheduler_and_back_byte_for_byte(unusual: str, scheduler: str) -> None:
    before = queue_state(unusual)
    values = {"nr_requests": "32", "scheduler": scheduler, "read_ahead_kb": "64"}
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(unusual, values)))
        for setting, value in wanted(unusual, values).items():
            assert setting.read() == value
    assert queue_state(unusual) == before


@pytest.mark.parametrize("scheduler", ["none", "kyber", "bfq"])
def test_tunables_of_the_scheduler_that_was_there_come_back(loop: str, scheduler: str) -> None:
    put(loop, "iosched/read_expire", "120")
    put(loop, "nr_requests", "100")
    before = queue_state(loop)
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(loop, {"scheduler": scheduler})))
    assert queue_state(loop) == before
    assert before["iosched/read_expire"] == "120"


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("max_sectors_kb", ("512", "256")),
        ("rotational", ("0", "1")),
        ("write_cache", ("write through", "write back")),
        ("iostats", ("0", "1")),
        ("add_random", ("1", "0")),
    ],
)
def test_a_read_ahead_that_the_kernel_raises_comes_back(
    loop: str, attribute: str, values: tuple[str, str]
) -> None:
    original = queue_state(loop)
    try:
        put(loop, attribute, values[1])
        put(loop, "read_ahead_kb", "64")
        before = queue_state(loop)
        with Transaction() as transaction:
            transaction.apply(*kinds.prepare_changes(wanted(loop, {attribute: values[0]})))
        assert queue_state(loop) == before
    finally:
        put(loop, attribute, original[attribute])
        put(loop, "read_ahead_kb", original["read_ahead_kb"])


def test_read_ahead_holds_with_settings_that_raise_it(loop: str) -> None:
    before = queue_state(loop)
    values = {"read_ahead_kb": "64", "rotational": "1", "max_sectors_kb": "512"}
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(loop, values)))
        assert all(setting.read() == value for setting, value in wanted(loop, values).items())
    assert queue_state(loop) == before


def test_tunables_of_bfq_are_restored(loop: str) -> None:
    put(loop, "scheduler", "bfq")
    put(loop, "iosched/slice_idle_us", "2500")
    put(loop, "iosched/low_latency", "0")
    before = queue_state(loop)
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(loop, {"scheduler": "mq-deadline"})))
    assert queue_state(loop) == before


def test_changes_one_upon_another(unusual: str) -> None:
    before = queue_state(unusual)
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(unusual, {"nr_requests": "32"})))
        transaction.apply(*kinds.prepare_changes(wanted(unusual, {"scheduler": "bfq"})))
        transaction.apply(*kinds.prepare_changes(wanted(unusual, {"nr_requests": "512"})))
    assert queue_state(unusual) == before


def test_a_scheduler_that_the_kernel_does_not_have(loop: str) -> None:
    before = queue_state(loop)
    change = AttributeChange.prepare(queue(loop), {"scheduler": "cfq"})
    with pytest.raises(SettingError) as caught, Transaction() as transaction:
        transaction.apply(change)
    assert caught.value.wanted == f"to set scheduler of {loop} to cfq"
    assert "it offers none, mq-deadline" in caught.value.found
    assert "modprobe cfq-iosched" in caught.value.remedy
    assert queue_state(loop) == before


def test_rounded_value_is_refused_and_restored(loop: str) -> None:
    before = queue_state(loop)
    change = kinds.prepare_changes(wanted(loop, {"read_ahead_kb": "77", "scheduler": "bfq"}))
    with pytest.raises(SettingError, match="the actual value is 76"), Transaction() as transaction:
        transaction.apply(*change)
    assert queue_state(loop) == before


def test_a_value_out_of_the_devices_range(unusual: str) -> None:
    before = queue_state(unusual)
    with pytest.raises(SettingError), Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(unusual, {"nr_requests": "10240"})))
    assert queue_state(unusual) == before


def test_an_attribute_that_this_queue_does_not_have(loop: str) -> None:
    for attribute in ("nonesuch", "hw_sector_size"):
        with pytest.raises(SettingError, match="absent here now, or read-only"):
            AttributeChange.prepare(queue(loop), {attribute: "1"})


def test_a_foreign_scheduler_is_left_alone_with_its_tunables(loop: str) -> None:
    ours = {"scheduler": "bfq", "read_ahead_kb": "64"}
    original = queue_state(loop)
    with pytest.raises(RestoreError) as caught, Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(wanted(loop, ours)))
        put(loop, "scheduler", "kyber")
        put(loop, "nr_requests", "99")
    assert "scheduler is kyber: another process has changed it" in caught.value.found
    assert "--force" in caught.value.remedy
    now = queue_state(loop)
    assert now["nr_requests"] == "99"
    assert now["read_ahead_kb"] == original["read_ahead_kb"]
    put(loop, "scheduler", "mq-deadline")


def test_a_foreign_number_is_left_alone_unless_forced(loop: str) -> None:
    (change,) = kinds.prepare_changes(wanted(loop, {"read_ahead_kb": "64"}))
    original = queue_state(loop)["read_ahead_kb"]
    change.apply()
    put(loop, "read_ahead_kb", "32")
    with pytest.raises(RestoreError, match="read_ahead_kb is 32"):
        change.undo()
    (done,) = change.undo(ConflictPolicy.OVERWRITE)
    assert str(done) == f"block.read_ahead_kb of {loop}: 32 -> {original}"
    assert change.undo() == ()


def test_a_foreign_number_is_left_alone_for_good_if_accepted(loop: str) -> None:
    change, *_ = kinds.prepare_changes(wanted(loop, {"read_ahead_kb": "64", "nr_requests": "32"}))
    original = queue_state(loop)
    change.apply()
    put(loop, "read_ahead_kb", "32")
    done = change.undo(ConflictPolicy.ACCEPT)
    assert done[-1] == f"block.read_ahead_kb of {loop}: left at 32"
    now = queue_state(loop)
    assert (now["read_ahead_kb"], now["nr_requests"]) == ("32", original["nr_requests"])
    put(loop, "read_ahead_kb", original["read_ahead_kb"])


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        ({"boot": "another"}, "the host has been rebooted"),
        ({"node": 1}, "another device has its name now"),
        ({"diskseq": None}, "another device has its name now"),
        ({"name": "loop4095"}, "the device is gone"),
    ],
)
def test_a_device_that_is_not_there_any_more(loop: str, loss: dict[str, str], why: str) -> None:
    """Its settings went with it; one that got its name is not touched."""
    device = replace(queue(loop).device, **loss)  # type: ignore[arg-type]
    change = AttributeChange(Queue(device), {"scheduler": "mq-deadline"}, {"scheduler": "bfq"})
    put(loop, "scheduler", "bfq")
    (said,) = change.undo(ConflictPolicy.OVERWRITE)
    assert why in said
    assert queue_state(loop)["scheduler"].count("[bfq]") == 1


def test_a_loop_device_that_is_attached_anew_keeps_its_queue(loop: str) -> None:
    before = queue_state(loop)
    image = read_device(loop).backing_file
    (change,) = kinds.prepare_changes(wanted(loop, {"scheduler": "bfq", "read_ahead_kb": "64"}))
    change.apply()
    subprocess.run(["losetup", "--detach", f"/dev/{loop}"], check=True)
    subprocess.run(["losetup", "--direct-io=on", f"/dev/{loop}", str(image)], check=True)
    assert f"block.scheduler of {loop}: bfq -> mq-deadline" in map(str, change.undo())
    assert queue_state(loop) == before


def test_another_loop_device_of_the_same_name_is_another(loop: str) -> None:
    before = DeviceIdentity.from_device(read_device(loop))
    replace_loop(loop)
    assert before.absence_reason() == "another device has its name now"
    with pytest.raises(SettingError, match="another device has its name now since"):
        AttributeChange.prepare(Queue(before), {"scheduler": "bfq"})
