"""iostat's figures by its formulae."""

from __future__ import annotations

import pytest

from iostudy.telemetry.iostat import (
    EXTENDED_FIGURES,
    OLD_FIGURES,
    compute_iostat_figures,
    compute_old_figures,
)

COUNTERS = (
    *("reads", "reads_merged", "sectors_read", "read_ms"),
    *("writes", "writes_merged", "sectors_written", "write_ms"),
    *("io_ms", "weighted_io_ms"),
    *("discards", "discards_merged", "sectors_discarded", "discard_ms"),
    *("flushes", "flush_ms"),
)
ZERO = dict.fromkeys(COUNTERS, 0)


def test_the_figures_of_known_seconds():
    moved = ZERO | {
        "reads": 100,
        "reads_merged": 300,
        "sectors_read": 8000,
        "read_ms": 250,
        "writes": 50,
        "sectors_written": 1000,
        "write_ms": 500,
        "io_ms": 600,
        "weighted_io_ms": 1500,
        "discards": 4,
        "discards_merged": 12,
        "sectors_discarded": 8192,
        "discard_ms": 6,
        "flushes": 8,
        "flush_ms": 20,
    }
    figures = compute_iostat_figures(moved, 2.0)
    expected = {
        "r/s": 50,
        "rkB/s": 2000,
        "rrqm/s": 150,
        "%rrqm": 75,
        "r_await": 2.5,
        "rareq-sz": 40,
        "w/s": 25,
        "wkB/s": 250,
        "wrqm/s": 0,
        "%wrqm": 0,
        "w_await": 10,
        "wareq-sz": 10,
        "d/s": 2,
        "dkB/s": 2048,
        "drqm/s": 6,
        "%drqm": 75,
        "d_await": 1.5,
        "dareq-sz": 1024,
        "f/s": 4,
        "f_await": 2.5,
        "aqu-sz": 0.75,
        "%util": 30,
        "kB_read": 4000,
        "kB_wrtn": 500,
    }
    assert figures == pytest.approx(expected)
    assert set(EXTENDED_FIGURES) < set(figures)
    old = {"avgrq-sz": 17192 / 154, "avgqu-sz": 0.75, "await": 756 / 154, "svctm": 600 / 154}
    assert compute_old_figures(figures) == pytest.approx(old)


def test_an_idle_device_has_zeros_and_no_division_by_zero():
    figures = compute_iostat_figures(ZERO, 1.0)
    assert set(figures.values()) == {0.0}
    assert compute_old_figures(figures) == dict.fromkeys(OLD_FIGURES, 0.0)


def test_utilization_above_100_percent_is_kept_as_in_iostat():
    assert compute_iostat_figures(ZERO | {"io_ms": 1040}, 1.0)["%util"] == pytest.approx(104)


@pytest.mark.parametrize(
    ("printed", "old"),
    [
        (
            {"r/s": 222, "w/s": 888, "rMB/s": 6.25, "wMB/s": 15.37, "%util": 94.30},
            {"avgrq-sz": 39.90, "svctm": 0.85},
        ),
        ({"w/s": 481, "wMB/s": 118.58, "%util": 77.2}, {"avgrq-sz": 504.88}),
    ],
)
def test_the_old_figures_are_those_that_the_iostat_of_report_r3_printed(printed, old):
    sizes = {f"{letter}kB/s": 1024 * printed.get(f"{letter}MB/s", 0) for letter in "rw"}
    figures = compute_old_figures(dict.fromkeys(EXTENDED_FIGURES, 0.0) | printed | sizes)
    for name, value in old.items():
        assert figures[name] == pytest.approx(value, abs=0.015)
