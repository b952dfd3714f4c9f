"""Readings of real devices, and the moments at which they are due."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy_watch.live import Live, next_due, readings
from tests.fixtures_loop import loop_disk, replace_loop

MIB = 1 << 20


def write(device: str, mebibytes: int = 4) -> None:
    descriptor = os.open(f"/dev/{device}", os.O_WRONLY | os.O_DSYNC)
    try:
        for _ in range(mebibytes):
            os.write(descriptor, bytes(MIB))
    finally:
        os.close(descriptor)


def test_a_reading_has_time_host_and_machine():
    live = Live()
    before = datetime.now(UTC)
    reading = live.read()
    assert before - timedelta(seconds=1) < reading.at < datetime.now(UTC) + timedelta(seconds=1)
    assert reading.at.utcoffset() is not None
    assert reading.host.name == os.uname().nodename
    assert reading.summary.seconds > 0


class SparseProcessReader:
    """A native reader, a second a sample, that has the processes in every third of them."""

    def __init__(self) -> None:
        self._second = 0

    def sample(self) -> None:
        self._second += 1

    def take(self) -> SparseProcessReader:
        return self

    @property
    def names(self) -> list[str]:
        return ["clock.realtime_ns", "foreign.cpu_us"]

    def timestamps(self) -> bytes:
        return (np.array([self._second - 1, self._second], np.uint64) * 10**9).tobytes()

    def values(self) -> bytes:
        used = [0.0 if self._was_scanned(before) else np.nan for before in (-1, 0)]
        return np.array([[0.0, 0.0], used]).tobytes()

    def processes(self) -> list[tuple[int, str, bool, int, int, int]]:
        return [(7, "dd", False, 3_000_000, 0, 0)] if self._was_scanned(0) else []

    def _was_scanned(self, before: int) -> bool:
        return (self._second + before) % 3 == 0


def test_busiest_process_covers_the_time_between_scans(
    monkeypatch: pytest.MonkeyPatch,
):
    live = Live()
    monkeypatch.setattr(live._reader, "_native", SparseProcessReader())
    busiest = [live.read().busiest for _ in range(5)]
    assert busiest[:2] == [None, None]
    assert busiest[2] is not None
    assert busiest[2] == busiest[3] == busiest[4]
    assert (busiest[2].process.cpu_seconds, busiest[2].seconds) == (3.0, pytest.approx(3.0))


@pytest.mark.root
def test_no_reading_is_of_the_time_before_it(loop):
    write(loop)
    live = Live([loop])
    idle = live.read()
    assert idle.summary.devices[loop]["kB_wrtn"] == 0
    write(loop, 8)
    assert live.read().summary.devices[loop]["kB_wrtn"] == 8 * 1024
    assert live.read().summary.devices[loop]["kB_wrtn"] == 0


@pytest.mark.root
def test_without_names_disks_that_have_done_anything_are_watched(loop):
    replace_loop(loop)
    live = Live()
    statistics = Path(f"/sys/block/{loop}/stat")
    untouched = not any(map(int, statistics.read_text().split()))
    assert (loop in live.read().devices) != untouched
    write(loop)
    first = live.read()
    assert first.summary.devices[loop]["kB_wrtn"] == 4 * 1024
    assert set(first.summary.devices) <= set(first.devices)
    assert not any((Path("/sys/class/block") / n / "partition").exists() for n in first.devices)


@pytest.mark.root
def test_a_device_that_goes_has_no_figures_and_one_that_comes_has_them_later(loop):
    live = Live([loop])
    live.read()
    replace_loop(loop)
    live.read()
    write(loop, 2)
    assert live.read().summary.devices[loop]["kB_wrtn"] == 2 * 1024


@pytest.mark.root
def test_devices_keep_the_requested_order(loop):
    with loop_disk() as second:
        requested = [second, f"/dev/{loop}"]
        first = Live(requested).read()
    assert list(first.devices) == list(first.summary.devices) == [second, loop]


def test_delays_do_not_accumulate_and_missed_readings_are_skipped():
    clock = Clock()
    ends = readings(FakeLive(clock, [0.3, 2.5, 0.0, 0.0]), 1.0, 4, clock.sleep, clock.now)
    assert list(ends) == pytest.approx([101.0, 102.0, 105.0, 106.0])


@given(
    st.floats(0, 1e6),
    st.floats(0.1, 1e4),
    st.floats(-1e4, 1e6),
)
def test_the_next_one_is_after_now_and_by_at_most_an_interval(due, interval, late):
    now = due + max(0.0, late)
    following = next_due(due, interval, now)
    assert now <= following + 1e-6
    assert following <= now + interval + 1e-6


def test_the_interval_is_waited_for():
    began = time.monotonic()
    first = list(readings(Live(), 0.1, 2))
    assert len(first) == 2
    assert time.monotonic() - began >= 0.2


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.at += seconds


class FakeLive:
    """Returns the time of each read, and takes a given time for it."""

    def __init__(self, clock: Clock, costs: list[float]) -> None:
        self.clock, self.costs = clock, costs

    def read(self) -> float:
        at = self.clock.at
        self.clock.at += self.costs.pop(0)
        return at
