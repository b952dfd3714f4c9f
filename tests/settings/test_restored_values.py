"""Tests of restored values: the names of settings, each listed once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iostudy.settings.attributes import AttributeChange
from iostudy.settings.change import RestoredValue, format_restored


def test_a_value_that_went_back_in_steps_is_reported_once_from_first_to_last():
    values = (
        RestoredValue("block.read_ahead_kb of loop4", "8192", "4096"),
        "left as it is",
        RestoredValue("block.scheduler of loop4", "bfq", "none"),
        RestoredValue("block.read_ahead_kb of loop4", "4096", "2560"),
        RestoredValue("block.read_ahead_kb of loop5", "4096", "2560"),
    )
    assert format_restored(values) == (
        "block.read_ahead_kb of loop4: 8192 -> 2560",
        "left as it is",
        "block.scheduler of loop4: bfq -> none",
        "block.read_ahead_kb of loop5: 4096 -> 2560",
    )


@pytest.mark.parametrize(
    ("attribute", "requested", "called"),
    [
        ("scheduler", "block.scheduler", "block.scheduler"),
        ("nr_requests", "block.scheduler", "block.nr_requests"),
        ("iosched/slice_idle", "block.bfq.slice_idle", "block.bfq.slice_idle"),
        ("iosched/slice_idle", "block.scheduler", "iosched/slice_idle"),
        ("vm.dirty_ratio", "sysctl.vm.dirty_bytes", "sysctl.vm.dirty_ratio"),
        ("kernel.pid_max", "sysctl.kernel.pid_max", "sysctl.kernel.pid_max"),
        ("commit", "mount.options", "mount.commit"),
        ("stripe", "mount.options", "stripe"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "thp.enabled", "thp.enabled"),
        ("proc/sys/vm/min_free_kbytes", "thp.enabled", "proc/sys/vm/min_free_kbytes"),
    ],
)
def test_a_setting_is_called_by_its_name_where_that_is_known(attribute, requested, called):
    owner = SimpleNamespace(name="loop4")
    change = AttributeChange(owner, {attribute: "1"}, {attribute: "2"}, {requested: "2"})
    assert change.describe() == f"{called} of loop4: 1 -> 2"
