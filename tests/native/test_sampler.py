from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from iostudy._native import Reader, Sampler
from iostudy.telemetry.samples import Samples, counter_increments, sum_known
from tests.native.jobs import job

DISK = [
    "reads",
    "reads_merged",
    "sectors_read",
    "read_ms",
    "writes",
    "writes_merged",
    "sectors_written",
    "write_ms",
    "in_flight",
    "io_ms",
    "weighted_io_ms",
    "discards",
    "discards_merged",
    "sectors_discarded",
    "discard_ms",
    "flushes",
    "flush_ms",
]
CPU = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"]


def by_hand(device: str) -> list[int]:
    lines = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    return next([int(field) for field in line[3:20]] for line in lines if line[2] == device)


def names_by_hand() -> list[str]:
    return [line.split()[2] for line in Path("/proc/diskstats").read_text().splitlines()]


def cpu_by_hand() -> list[int]:
    return [int(field) for field in Path("/proc/stat").read_text().split()[1:9]]


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[str]:
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate(16 << 20)
    attach = ["losetup", "--find", "--show", str(disk)]
    device = subprocess.run(attach, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.root
def test_disk_counters_are_those_of_the_kernel(loop_device: str) -> None:
    name = loop_device.removeprefix("/dev/")
    sampler = Sampler([name], [], 3600)
    before = by_hand(name)
    sampler.start()
    job([Path(loop_device)], direct=True, file_bytes=8 << 20, record_bytes=1 << 20).run()
    disk = Samples.from_native(sampler.stop()).keyed("disk")
    assert list(disk) == [name]
    assert [disk[name][counter][0] for counter in DISK] == before
    assert [disk[name][counter][-1] for counter in DISK] == by_hand(name)
    assert sum_known(counter_increments(disk[name]["sectors_written"])) == (8 << 20) / 512


def test_samples_come_at_the_interval_between_first_and_last() -> None:
    sampler = Sampler([], [], 0.02)
    sampler.start()
    time.sleep(0.2)
    samples = Samples.from_native(sampler.stop())
    assert np.all(samples.intervals > 0)
    assert 4 <= len(samples.seconds) <= 12
    assert {len(column) for column in samples.columns.values()} == {len(samples.seconds)}


def test_processor_ticks_lie_between_readings_by_hand() -> None:
    before = cpu_by_hand()
    sampler = Sampler([], [], 3600)
    sampler.start()
    cpu = Samples.from_native(sampler.stop()).group("cpu")
    after = cpu_by_hand()
    assert list(cpu) == CPU
    for earlier, state, later in zip(before, CPU, after, strict=True):
        if state != "iowait":  # the kernel says itself that it may decrease
            assert earlier <= cpu[state][0] <= cpu[state][-1] <= later


def test_pressure_is_there_if_the_kernel_has_it() -> None:
    sampler = Sampler([], [], 3600)
    sampler.start()
    pressure = Samples.from_native(sampler.stop()).group("pressure")
    assert ("io_some" in pressure) == Path("/proc/pressure/io").exists()


def test_no_devices_are_none_and_none_named_are_all() -> None:
    for devices, found in (([], set()), (None, set(names_by_hand()))):
        sampler = Sampler(devices, [], 3600)
        sampler.start()
        assert set(Samples.from_native(sampler.stop()).keyed("disk")) == found


def test_columns_are_handed_over_one_behind_the_other_and_what_was_missing_is_nan() -> None:
    reader = Reader([], [])
    reader.sample()  # has what is read seldom, the next one at once has not
    reader.sample()
    native = reader.take()
    values = np.frombuffer(native.values()).reshape(len(native.names), 2)
    by_name = dict(zip(native.names, values, strict=True))
    first, second = by_name["clock.boottime_ns"]
    assert 0 < first < second
    used = by_name["foreign.cpu_us"]
    assert np.isnan(used).tolist() == [False, True]


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan"), float("inf"), 1e12])
def test_an_interval_that_cannot_be_kept_is_refused(interval: float) -> None:
    with pytest.raises(ValueError, match="interval_seconds"):
        Sampler([], [], interval)


def test_starting_twice_and_stopping_unstarted_are_errors() -> None:
    sampler = Sampler([], [], 3600)
    with pytest.raises(RuntimeError, match="not been started"):
        sampler.stop()
    sampler.start()
    with pytest.raises(RuntimeError, match="started already"):
        sampler.start()
    sampler.stop()
    sampler.start()
    assert len(Samples.from_native(sampler.stop()).seconds) == 2
