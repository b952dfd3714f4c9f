"""A recording covers what happened between its two ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iostudy.telemetry.iostat import SECTOR_BYTES
from iostudy.telemetry.processors import compute_cpu_shares
from iostudy.telemetry.recorder import ProcRecorder

TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
ONE_TICK_EACH = dict.fromkeys(TICKS, 1)


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
    recorder = ProcRecorder([disk], hz=100)
    outer = counters(disk)
    recorder.start()
    time.sleep(0.1)
    telemetry = recorder.stop()
    written = counters(disk)[6] - outer[6]
    assert 0 <= telemetry.summary.devices[disk]["kB_wrtn"] <= written * SECTOR_BYTES / 1024
    assert telemetry.summary.seconds >= 0.1
    shares = [telemetry.summary.machine[name] for name in compute_cpu_shares(ONE_TICK_EACH)]
    assert sum(shares) == pytest.approx(100)


def test_samples_are_a_table_with_one_row_a_sample(disk):
    recorder = ProcRecorder([disk], hz=100)
    recorder.start()
    time.sleep(0.1)
    samples = recorder.stop().samples
    assert len(samples.seconds) >= 3
    assert (samples.intervals > 0).all()
    assert {f"disk.{disk}.sectors_read", "cpu.steal"} <= set(samples.columns)


def test_a_device_that_is_not_there_has_no_figures():
    recorder = ProcRecorder(["no-such-disk"], hz=100)
    recorder.start()
    telemetry = recorder.stop()
    assert telemetry.summary.devices == {}
    assert not any(name.startswith("disk.") for name in telemetry.samples.columns)


@pytest.mark.child
def test_a_stopped_program_of_the_workload_is_reported():
    recorder = ProcRecorder([], workload=[os.getpid()])
    with subprocess.Popen(["sh", "-c", "sleep 30 & wait"], process_group=0) as child:
        recorder.start()
        time.sleep(0.5)
        os.killpg(child.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.killpg(child.pid, signal.SIGCONT)
        time.sleep(0.3)
        summary = recorder.stop().summary
        os.killpg(child.pid, signal.SIGKILL)
    assert 0.5 < summary.workload["stopped_s"] < 2.5


OWN = """
import os, time
from iostudy.telemetry.recorder import ProcRecorder
recorder = ProcRecorder([], workload=[os.getpid()])
recorder.start()
print("ready", flush=True)
time.sleep(2.5)
print(recorder.stop().summary.workload.get("stopped_s", 0.0))
"""


@pytest.mark.child
@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_stop_of_iostudy_itself_is_reported(*, is_stopped):
    code = [sys.executable, "-c", OWN]
    with subprocess.Popen(code, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        if is_stopped:
            child.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            child.send_signal(signal.SIGCONT)
        stopped = float(child.stdout.read())
    assert (stopped >= 1.4) == is_stopped
