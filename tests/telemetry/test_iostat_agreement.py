"""Agreement of the device figures with a concurrent iostat."""

from __future__ import annotations

import shutil
from contextlib import closing
from itertools import islice

import pytest
from benches.iostat_agreement import HALF_A_DIGIT, compare

from iostudy.telemetry.iostat import EXTENDED_FIGURES

MOVED = ("r/s", "rrqm/s", "w/s", "wrqm/s", "d/s", "f/s", "aqu-sz", "%util")


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("iostat"), reason="sysstat is not installed")
@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_every_figure_is_that_of_iostat_to_half_of_its_last_digit():
    """Three reports of a second each; on a machine under load others have to be left out."""
    with closing(compare(reports=30)) as lines:
        compared = list(islice(lines, 6))
    for name in EXTENDED_FIGURES:
        theirs = [each.iostat[name] for each in compared]
        assert [each.ours[name] for each in compared] == pytest.approx(theirs, abs=HALF_A_DIGIT)
    for name in MOVED:
        assert any(each.iostat[name] for each in compared), name
    for each in compared:
        assert each.seconds == pytest.approx(each.clock_seconds, rel=0.5)
