"""In which order the attributes of a queue are written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from iostudy.settings import catalog
from iostudy.settings.definitions.queue import DEFINITIONS as OTHERS
from iostudy.settings.definitions.schedulers import DEFINITIONS
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.kinds.queue import Queue

QUEUE = Queue(DeviceIdentity("loop0", "7:0", None, "", "", 0))
ATTRIBUTES = sorted({d.attribute for d in (*DEFINITIONS, *OTHERS)})
BEFORE = [
    ("scheduler", "nr_requests"),
    ("scheduler", "iosched/back_seek_max"),
    ("nr_requests", "iosched/async_depth"),
    ("iosched/strict_guarantees", "iosched/slice_idle"),
    ("iosched/strict_guarantees", "iosched/slice_idle_us"),
    ("iosched/slice_idle", "iosched/slice_idle_us"),
    ("max_sectors_kb", "read_ahead_kb"),
    ("rotational", "read_ahead_kb"),
    ("write_cache", "read_ahead_kb"),
]


@given(st.permutations(ATTRIBUTES))
def test_side_effects_come_before_the_settings_they_change(attributes: list[str]) -> None:
    order = QUEUE.write_order(attributes)
    assert sorted(order) == ATTRIBUTES
    for first, second in BEFORE:
        assert order.index(first) < order.index(second)


def test_a_tunable_carries_the_name_of_its_scheduler() -> None:
    for definition in DEFINITIONS:
        assert definition.condition is not None
        _, scheduler, tunable = definition.name.split(".")
        version, *others = definition.condition.values
        assert version == scheduler
        assert all(other.startswith(f"{scheduler}-") for other in others), definition.name
        assert {version, *others} <= set(catalog.get("block.scheduler").choices)
        assert definition.attribute == f"iosched/{tunable}"
