"""Tests of the text of machine figures above the device table."""

from __future__ import annotations

from iostudy.telemetry.summary import ForeignProcess
from iostudy_watch.live import BusiestProcess
from iostudy_watch.machine_text import (
    format_busiest,
    format_dirty,
    format_pressure,
    format_processors,
)
from tests.plugins.watch.of_devices import MACHINE


def test_known_values_appear_in_the_order_of_iostat():
    assert format_processors(MACHINE).startswith("CPU 12% user, 0% nice, 3% system, 40% iowait, ")
    assert format_pressure(MACHINE) == "pressure 30% io, 2% cpu, 0% memory"
    assert format_dirty(MACHINE) == "dirty 2.00 MiB of 4.00 GiB, 512 KiB in writeback"


def test_unknown_values_are_omitted():
    assert format_processors({}) == format_pressure({}) == format_dirty({}) == ""
    assert format_pressure({"cpu_some": 1.0}) == "pressure 1% cpu"
    assert format_dirty({"dirty_kB": 0.0, "writeback_kB": 0.0}) == "dirty 0 B, 0 B in writeback"
    assert format_busiest(None) == ""


def test_paused_writers_are_reported():
    assert format_dirty(MACHINE | {"%throttled": 25.0}).endswith(", writers paused 25%")


def test_busiest_process_has_rates_per_second():
    first = ForeignProcess(4711, "dd", cpu_seconds=1.0, read_kB=0.0, written_kB=4096.0)
    message = "busiest dd (4711): 0 B/s read, 2.00 MiB/s written, 50% of a core"
    assert format_busiest(BusiestProcess(first, seconds=2.0)) == message
