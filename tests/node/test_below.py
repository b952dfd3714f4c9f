"""Which devices the places of a study lie on."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.node import below
from tests.fixtures_loop import loop_disk

pytestmark = pytest.mark.root


def test_each_device_is_told_once_and_none_that_lies_on_another() -> None:
    with loop_disk() as first, loop_disk() as second:
        places = [Path("/dev") / name for name in (first, second, first)]
        backing = Path("/tmp")
        assert below.tops(*places) == (first, second)
        assert below.names(*places)[0] == first
        assert set(below.names(*places)) >= {first, second, *below.names(backing)}
        if below.names(backing):
            assert below.tops(places[0], backing) == below.tops(backing)


def test_a_place_in_memory_lies_on_none() -> None:
    assert below.names(Path("/proc")) == below.tops(Path("/proc")) == ()
    assert below.identity("/proc") == []
