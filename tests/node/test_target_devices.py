"""Block devices below the places of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.node import target_devices
from tests.fixtures_loop import loop_disk

pytestmark = pytest.mark.root


def test_target_devices_are_unique_and_topmost() -> None:
    with loop_disk() as first, loop_disk() as second:
        places = [Path("/dev") / name for name in (first, second, first)]
        backing = Path("/tmp")
        assert target_devices.top_device_names(*places) == (first, second)
        assert target_devices.device_names(*places)[0] == first
        assert set(target_devices.device_names(*places)) >= {
            first,
            second,
            *target_devices.device_names(backing),
        }
        if target_devices.device_names(backing):
            assert target_devices.top_device_names(
                places[0], backing
            ) == target_devices.top_device_names(backing)


def test_a_place_in_memory_lies_on_none() -> None:
    assert (
        target_devices.device_names(Path("/proc"))
        == target_devices.top_device_names(Path("/proc"))
        == ()
    )
    assert target_devices.device_identities("/proc") == []
