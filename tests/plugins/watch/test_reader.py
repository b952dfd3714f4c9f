"""Whoever looks for months needs no more for it than on the first day, and misses nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from iostudy.telemetry.samples import counter_increments, drop_missing
from iostudy_watch.reader import MAX_COLUMNS_RATIO, SampleReader

LOOKS = 200
CLOCK, COUNTER, ADDED_UP = "clock.boottime_ns", "vm.nr_written", "foreign.cpu_us"
SAMPLING_NS, INTERVAL_NS = 1_000_000, 1_000_000_000


class Host:
    """A machine on which an interface comes with each look and is gone with the next."""

    def __init__(self, scanned_every: int) -> None:
        self.scanned_every = scanned_every
        self.now, self.looks, self.readers = 0, 0, []

    def opened(self, *_: object) -> NativeReader:
        self.readers.append(NativeReader(self))
        return self.readers[-1]

    def counters(self) -> dict[str, float]:
        there = {CLOCK: self.now, COUNTER: self.now / 1000, "net.eth0.rx_bytes": 7}
        return {name: float(value) for name, value in there.items()} | {
            f"net.veth{self.looks}.rx_bytes": float(self.looks)
        }


class NativeReader:
    """Gives up no column, and scans the processes with some of its samples."""

    def __init__(self, host: Host) -> None:
        self._host, self._since, self._count = host, host.now, 0
        self.names: list[str] = []
        self._rows: list[tuple[int, dict[str, float]]] = []

    def sample(self) -> None:
        self._host.now += SAMPLING_NS
        row = self._host.counters()
        if self._count % self._host.scanned_every == 0:
            row[ADDED_UP] = float(self._host.now - self._since)
        self._count += 1
        self.names += [name for name in row if name not in self.names]
        self._rows.append((self._host.now, row))

    @property
    def has_just_scanned(self) -> bool:
        return ADDED_UP in self._rows[-1][1]

    def take(self) -> NativeReader:
        self._taken, self._rows = self._rows, self._rows[-1:]
        return self

    def timestamps(self) -> bytes:
        return np.array([at for at, _ in self._taken], np.uint64).tobytes()

    def values(self) -> bytes:
        rows = [[row.get(name, np.nan) for _, row in self._taken] for name in self.names]
        return np.array(rows).tobytes()

    def processes(self) -> list[tuple[int, str, bool, int, int, int]]:
        return []


@pytest.fixture(params=[1, 3])
def host(request, monkeypatch) -> Host:
    found = Host(scanned_every=request.param)
    monkeypatch.setattr("iostudy._native.Reader", found.opened)
    return found


@pytest.fixture
def looks(host):
    """The readings of many looks, an interval after the one before."""
    reader, found = SampleReader(None, ()), []
    for host.looks in range(1, LOOKS + 1):
        host.now += INTERVAL_NS
        found.append(reader.look())
    return found


def test_columns_that_are_gone_are_given_up_in_the_end(host, looks):
    assert len(looks) == LOOKS
    assert len(host.readers) > 2
    assert max(len(each.names) for each in host.readers) < 2 * MAX_COLUMNS_RATIO * len(
        host.counters()
    )


def test_each_reading_continues_from_the_last(looks):
    for before, now in pairwise(looks):
        for name in (CLOCK, COUNTER):
            assert now.columns[name][0] == before.columns[name][-1]
        took = np.diff(now.columns[CLOCK]) / 1e9
        assert now.intervals == pytest.approx(took)
        assert now.seconds[0] == 0


def test_totals_of_a_reader_begin_at_its_first_sample(host, looks):
    """From the old one's last it would go back: a move of nobody knows how much."""
    steps = [
        drop_missing(counter_increments(each.columns[ADDED_UP]))
        for each in looks
        if ADDED_UP in each.columns
    ]
    assert sum(map(len, steps)) == (LOOKS if host.scanned_every == 1 else 0)
    assert all((each > 0).all() for each in steps)


@pytest.mark.usefixtures("looks")
def test_nothing_that_processes_did_before_a_scan_is_lost_with_a_reader(host):
    assert all(given_up.has_just_scanned for given_up in host.readers[:-1])


def test_an_interface_that_comes_has_no_value_before(looks):
    for number, summary in enumerate(looks, start=1):
        came = summary.columns[f"net.veth{number}.rx_bytes"]
        assert np.isnan(came[0])
        assert came[1] == number
