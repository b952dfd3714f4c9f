"""Tests of the device table: its rows, their order and filters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy_watch.device_selection import WatchedDevice
from iostudy_watch.table import (
    BARS,
    COLUMNS,
    DEVICE,
    History,
    TableView,
    adjacent_column,
    build_rows,
    next_sorting,
    sparkline,
)
from tests.plugins.watch.of_devices import HOME, STACK, UTILS, disk, reading

NOW = reading(STACK, UTILS)
FLAT = TableView(as_tree=False)


def shown(view: TableView, of=NOW) -> list[str]:
    """Each row as the names from its volume down."""
    return ["/".join(row.path) for row in build_rows(of, view)]


def test_members_are_listed_below_each_of_their_volumes():
    tree = ["md0", "md0/sda", "md0/sdb"]
    assert shown(TableView()) == [
        "sdc",
        "dm-0", *(f"dm-0/{each}" for each in tree),
        "dm-1", *(f"dm-1/{each}" for each in tree),
    ]  # fmt: skip
    assert [row.depth for row in build_rows(NOW, TableView())] == [0, 0, 1, 2, 2, 0, 1, 2, 2]


def test_a_member_that_is_a_watched_partition_is_shown_itself():
    devices = [WatchedDevice("sda1", "sda1", is_partition=True), disk("sdb"), STACK[3]]
    assert shown(TableView(), reading(devices, {})) == ["md0", "md0/sda1", "md0/sdb"]


def test_flat_view_lists_every_device_once():
    assert shown(FLAT) == ["sda", "sdb", "sdc", "md0", "dm-0", "dm-1"]
    assert shown(replace(FLAT, descending=False)) == shown(FLAT)[::-1]


def test_sorting_is_among_those_of_one_volume():
    view = TableView(sorted_by="%util")
    assert shown(view)[:4] == ["dm-1", "dm-1/md0", "dm-1/md0/sdb", "dm-1/md0/sda"]
    assert shown(replace(view, descending=False))[:3] == ["dm-0", "dm-0/md0", "dm-0/md0/sda"]
    assert shown(replace(view, as_tree=False)) == ["sdb", "md0", "dm-1", "sda", "sdc", "dm-0"]


@pytest.mark.parametrize("descending", [True, False])
def test_a_device_without_figures_comes_last(descending):
    now = reading(STACK[:3], {"sda": 1.0, "sdc": 0.0})
    view = TableView(sorted_by="%util", descending=descending, as_tree=False)
    assert shown(view, now)[-1] == "sdb"
    assert build_rows(now, view)[-1].figures == {}


def test_a_filter_keeps_the_way_down_to_a_match_and_all_below_it():
    assert shown(TableView(matching="SDA")) == [
        "dm-0", "dm-0/md0", "dm-0/md0/sda", "dm-1", "dm-1/md0", "dm-1/md0/sda",
    ]  # fmt: skip
    assert shown(TableView(matching="home")) == ["dm-1", "dm-1/md0", "dm-1/md0/sda", "dm-1/md0/sdb"]
    assert shown(replace(FLAT, matching="md/")) == ["md0"]
    assert shown(TableView(matching="nothing")) == []


def test_a_folded_volume_hides_its_members_but_is_found_by_them():
    folded = TableView(folded=frozenset({("dm-0",), ("dm-1", "md0"), ("sdc",)}))
    assert shown(folded) == ["sdc", "dm-0", "dm-1", "dm-1/md0"]
    assert [row.is_folded for row in build_rows(NOW, folded)] == [False, True, False, True]
    assert shown(replace(folded, matching="sdb")) == ["dm-0", "dm-1", "dm-1/md0"]


@given(
    st.sampled_from((DEVICE, *COLUMNS)), st.booleans(), st.booleans(),
    st.dictionaries(st.sampled_from(list(UTILS)), st.floats(0, 1e9)),
)  # fmt: skip
def test_every_device_is_there_in_every_order(column, descending, as_tree, utils):
    view = TableView(column, descending, as_tree=as_tree)
    found = build_rows(reading(STACK, utils), view)
    assert {row.device.name for row in found} == set(UTILS)
    assert len({row.path for row in found}) == len(found)


def test_choosing_a_column_again_turns_the_order_round():
    by_util = TableView(sorted_by="%util")
    assert next_sorting(TableView(), "%util") == ("%util", True)
    assert next_sorting(by_util, "%util") == ("%util", False)
    assert next_sorting(replace(by_util, descending=False), "r/s") == ("r/s", True)


def test_columns_go_round():
    assert adjacent_column(DEVICE, 1) == COLUMNS[0]
    assert adjacent_column(DEVICE, -1) == COLUMNS[-1]
    assert adjacent_column(COLUMNS[-1], 1) == DEVICE


def test_the_history_of_a_device_has_gaps_where_it_was_gone():
    history = History()
    for second, util in enumerate((10.0, None, 30.0, 40.0)):
        utils = {} if util is None else {"sda": util}
        history.add(reading([disk("sda")], utils, second))
    assert history.last_values("sda", "%util", 3) == (None, 30.0, 40.0)
    assert history.last_values("sda", "w/s", 9) == (100.0, None, 300.0, 400.0)
    assert history.scale("%util") == 100.0
    assert history.scale("w/s") == 400.0


def test_a_history_does_not_grow_without_end():
    history = History()
    for _ in range(5000):
        history.add(NOW)
    assert 100 < len(history.last_values("sda", "%util", 5000)) < 1000


def test_bars():
    assert sparkline((0.0, None, 50.0, 100.0, 250.0), 100.0, 6) == " ▁ ▅██"
    assert sparkline((0.0, 0.0), 0.0, 2) == "▁▁"


@given(st.lists(st.none() | st.floats(0, 1e12), max_size=20).map(tuple), st.floats(0, 1e12))
def test_any_history_fits(values, scale):
    drawn = sparkline(values, scale, 20)
    assert len(drawn) == 20
    assert set(drawn) <= {" ", *BARS}


def test_volume_has_its_common_name():
    assert (
        next(r for r in build_rows(NOW, FLAT) if r.device.name == "dm-1").device.label == HOME.label
    )
