"""A recording tells what happened between its two ends."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from iostudy.telemetry.iostat import SECTOR_BYTES
from iostudy.telemetry.recorder import ProcRecorder


@pytest.fixture
def disk():
    for line in Path("/proc/diskstats").read_text().splitlines():
        if int(line.split()[3]):
            return line.split()[2]
    pytest.skip("no block device here has ever been read")


def counters(disk):
    for line in Path("/proc/diskstats").read_text().splitlines():
        if line.split()[2] == disk:
            return [int(field) for field in line.split()[3:]]
    raise AssertionError(disk)


def test_totals_lie_between_what_the_kernel_counted_before_and_after(disk):
    recorder = ProcRecorder([disk], 0.01)
    outer = counters(disk)
    recorder.start()
    time.sleep(0.1)
    telemetry = recorder.stop()
    written = counters(disk)[6] - outer[6]
    assert 0 <= telemetry.devices[disk]["kB_wrtn"] <= written * SECTOR_BYTES / 1024
    assert telemetry.seconds >= 0.1
    assert sum(v for n, v in telemetry.machine.items() if n.startswith("%")) == pytest.approx(100)


def test_samples_are_a_table_with_one_row_a_sample(disk):
    recorder = ProcRecorder([disk], 0.01)
    recorder.start()
    time.sleep(0.1)
    samples = recorder.stop().samples()
    assert samples.height >= 3
    assert samples["seconds"].is_sorted()
    assert {f"{disk}.sectors_read", "cpu.steal"} <= set(samples.columns)


def test_a_device_that_is_not_there_has_no_figures():
    recorder = ProcRecorder(["no-such-disk"], 0.01)
    recorder.start()
    telemetry = recorder.stop()
    assert telemetry.devices == {}
    assert telemetry.samples()["no-such-disk.reads"].null_count() == telemetry.samples().height
