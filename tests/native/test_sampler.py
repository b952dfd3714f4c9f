from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy._native import Sampler
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
PRESSURE = ["cpu_some", "io_some", "io_full", "memory_some", "memory_full"]


def by_hand(device: str) -> list[int]:
    lines = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    return next([int(field) for field in line[3:20]] for line in lines if line[2] == device)


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
    sampler = Sampler([name], 3600)
    before = by_hand(name)
    sampler.start()
    job([Path(loop_device)], direct=True, file_bytes=8 << 20, record_bytes=1 << 20).run()
    disk = sampler.stop().disk(name)
    assert list(disk) == DISK
    assert [disk[counter][0] for counter in DISK] == before
    assert [disk[counter][-1] for counter in DISK] == by_hand(name)
    first, last = disk["sectors_written"]
    assert first is not None
    assert last == first + (8 << 20) / 512


def test_samples_come_at_the_interval_between_first_and_last() -> None:
    before = time.monotonic()
    sampler = Sampler([], 0.02)
    sampler.start()
    time.sleep(0.2)
    samples = sampler.stop()
    seconds = samples.seconds
    assert before <= seconds[0] < seconds[-1] <= time.monotonic()
    assert seconds == sorted(seconds)
    assert 4 <= len(seconds) <= 12
    lengths = {len(column) for column in (samples.cpu() | samples.pressure()).values()}
    assert lengths == {len(seconds)}


def test_processor_ticks_lie_between_readings_by_hand() -> None:
    before = cpu_by_hand()
    sampler = Sampler([], 3600)
    sampler.start()
    cpu = sampler.stop().cpu()
    after = cpu_by_hand()
    assert list(cpu) == CPU
    for earlier, state, later in zip(before, CPU, after, strict=True):
        if state != "iowait":  # the kernel says itself that it may decrease
            assert earlier <= cpu[state][0] <= cpu[state][-1] <= later


def test_pressure_is_there_if_the_kernel_has_it() -> None:
    sampler = Sampler([], 3600)
    sampler.start()
    pressure = sampler.stop().pressure()
    assert list(pressure) == PRESSURE
    known = Path("/proc/pressure/io").exists()
    assert all((value is not None) == known for value in pressure["io_some"])


def test_a_missing_device_is_none_and_one_not_asked_for_is_an_error() -> None:
    sampler = Sampler(["no-such-disk"], 3600)
    sampler.start()
    samples = sampler.stop()
    assert samples.disk("no-such-disk")["reads"] == [None, None]
    with pytest.raises(KeyError, match="loop0"):
        samples.disk("loop0")


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan"), float("inf"), 1e12])
def test_an_interval_that_cannot_be_kept_is_refused(interval: float) -> None:
    with pytest.raises(ValueError, match="interval_seconds"):
        Sampler([], interval)


def test_starting_twice_and_stopping_unstarted_are_errors() -> None:
    sampler = Sampler([], 3600)
    with pytest.raises(RuntimeError, match="not been started"):
        sampler.stop()
    sampler.start()
    with pytest.raises(RuntimeError, match="started already"):
        sampler.start()
    sampler.stop()
    sampler.start()
    assert len(sampler.stop().seconds) == 2
