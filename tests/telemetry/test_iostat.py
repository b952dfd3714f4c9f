"""iostat's figures by its formulae, and across counter wraps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.telemetry.iostat import cpu_shares, device_figures, difference

COUNTERS = (
    *("reads", "reads_merged", "sectors_read", "read_ms"),
    *("writes", "writes_merged", "sectors_written", "write_ms"),
    *("in_flight", "io_ms", "weighted_io_ms"),
    *("discards", "discards_merged", "sectors_discarded", "discard_ms"),
    *("flushes", "flush_ms"),
)
ZERO = dict.fromkeys(COUNTERS, 0)


def test_the_figures_of_a_known_second():
    after = ZERO | {
        "reads": 100,
        "reads_merged": 300,
        "sectors_read": 8000,
        "read_ms": 250,
        "writes": 50,
        "sectors_written": 1000,
        "write_ms": 500,
        "io_ms": 600,
        "weighted_io_ms": 1500,
    }
    figures = device_figures(ZERO, after, 2.0)
    expected = {
        "r/s": 50,
        "rkB/s": 2000,
        "rrqm/s": 150,
        "%rrqm": 75,
        "r_await": 2.5,
        "rareq-sz": 40,
        "w/s": 25,
        "w_await": 10,
        "wareq-sz": 10,
        "aqu-sz": 0.75,
        "%util": 30,
        "kB_read": 4000,
    }
    assert {name: figures[name] for name in expected} == pytest.approx(expected)


def test_an_idle_device_has_zeros_and_no_division_by_zero():
    assert set(device_figures(ZERO, ZERO, 1.0).values()) == {0.0}


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**31))
def test_a_32_bit_counter_may_wrap_once(before, moved):
    assert difference(before, (before + moved) % 2**32) == moved


@given(st.integers(2**33, 2**64 - 1), st.integers(0, 2**40))
def test_a_64_bit_counter_may_wrap_once(before, moved):
    assert difference(before, (before + moved) % 2**64) == moved


def test_cpu_shares_count_interrupts_as_system_and_add_up():
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    before = dict.fromkeys(names, 1000)
    after = dict(zip(names, (1010, 1000, 1005, 1070, 1005, 1002, 1003, 1005), strict=True))
    shares = cpu_shares(before, after)
    assert shares["%system"] == pytest.approx(10)
    assert shares["%steal"] == pytest.approx(5)
    assert sum(shares.values()) == pytest.approx(100)
