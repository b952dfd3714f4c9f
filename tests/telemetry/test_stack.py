"""Merging and splitting of requests in a stack of devices."""

from __future__ import annotations

import pytest

from iostudy.telemetry.stack import Direction, build_flow

DISKS = tuple(f"sd{number}" for number in range(36))


def figures(**of):
    named = {"r/s": 0.0, "rrqm/s": 0.0, "w/s": 0.0, "wrqm/s": 0.0}
    return named | {name.replace("_", "/"): value for name, value in of.items()}


@pytest.mark.parametrize(("served", "merged"), [(122, 3290), (108, 3521)])
def test_most_of_the_requests_of_report_r3_are_merging(served, merged):
    """Both ends of what it published of the 36 disks below dm-2, a RAID 10 with 65,955 w/s."""
    disk = figures(w_s=served, wrqm_s=merged)
    devices = {"dm-2": figures(w_s=65955)} | dict.fromkeys(DISKS, disk)
    writes = build_flow(Direction.WRITE, "dm-2", {"dm-2": DISKS}, devices)
    volume, disks = writes.layers
    assert volume.merge_factor == 1
    assert writes.merging == disks
    assert 27.9 < disks.merge_factor < 33.8
    assert disks.requests_out == 36 * served
    assert writes.splits == pytest.approx([2], rel=0.08)


def test_a_stack_of_three_layers_is_ordered_from_the_top():
    members = {"dm-0": ("md0",), "md0": ("sda", "sdb")}
    devices = {
        "dm-0": figures(r_s=900),
        "md0": figures(r_s=450, rrqm_s=450),
        "sda": figures(r_s=450),
        "sdb": figures(r_s=450),
    }
    reads = build_flow(Direction.READ, "dm-0", members, devices)
    assert [layer.devices for layer in reads.layers] == [("dm-0",), ("md0",), ("sda", "sdb")]
    assert reads.merging.devices == ("md0",)
    assert reads.splits == (1, 2)
    assert reads.is_reshaped
    assert reads.sentence == (
        "900 reads/s reached dm-0; 900/s reached md0, merged 2.0:1 into 450/s; "
        "900/s reached 2 devices below, 2.0 for each one above."
    )


def test_a_disk_at_two_depths_is_counted_once_and_one_without_figures_not_at_all():
    members = {"dm-1": ("dm-0", "sda"), "dm-0": ("sda", "sdb")}
    devices = {name: figures(w_s=10) for name in ("dm-1", "dm-0", "sda")}
    writes = build_flow(Direction.WRITE, "dm-1", members, devices)
    assert [layer.devices for layer in writes.layers] == [("dm-1",), ("dm-0",), ("sda",)]


def test_an_idle_volume_merges_nothing():
    idle = build_flow(Direction.WRITE, "sda", {}, {"sda": figures()})
    assert idle.merging is None
    assert not idle.is_reshaped
    assert idle.layers[0].merge_factor == 1
    assert idle.splits == ()


def test_a_volume_that_was_not_recorded_has_no_flow():
    assert build_flow(Direction.WRITE, "dm-2", {"dm-2": DISKS}, {}) is None
