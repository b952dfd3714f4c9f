"""Parser of DiskSim's files, and accuracy where the measured traces are present."""

from __future__ import annotations

from pathlib import Path

import pytest
from benches import drive_accuracy

from iostudy.drives.disksim_syntax import parse

TRACES = Path(__file__).parents[3] / "shared" / "drives"


def test_blocks_and_lists_are_parsed():
    zones = "[ zone { a b = 2 }, zone { a b = 3 } ]"
    text = f"disk A {{\n  x = 1.5, # comment\n  Zones = {zones},\n  e = []\n}}"
    assert parse(text) == {"x": "1.5", "Zones": [{"a b": "2"}, {"a b": "3"}], "e": []}


@pytest.mark.parametrize("text", ["", "disk A", "disk A { x = ", "disk A { x 1 }"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match=r"expected|ends"):
        parse(text)


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no measured traces in {TRACES}")
@pytest.mark.parametrize("trace", sorted(TRACES.glob("*.trace")), ids=lambda path: path.stem)
def test_the_demerit_is_at_most_8_percent(trace):
    assert drive_accuracy.replay(trace).demerit <= 0.08


def test_a_line_has_the_demerit_and_the_means():
    import numpy as np

    accuracy = drive_accuracy.Accuracy("x", np.array([8.0, 10.0]), np.array([10.0, 9.0]))
    assert accuracy.line() == "x demerit 7.9 % mean 9.00 ms simulated 9.50 ms"
