"""Caps of a control group, and how long it was held back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from iostudy.settings import kinds
from iostudy.settings.transaction import Transaction
from iostudy.telemetry.cgroup import caps_by_device, cgroup_figures
from iostudy.telemetry.limits.diagnose import diagnose
from iostudy.telemetry.limits.diagnosis import Limit
from iostudy.telemetry.limits.ground import Ground
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import Samples
from iostudy.units import KIB
from tests.device import test_cgroup as device
from tests.fixtures_loop import MIB
from tests.telemetry import emulated

NAN = float("nan")


def recorded(**columns):
    named = {f"cgroup.{name}": np.array(values, float) for name, values in columns.items()}
    return Samples(np.array([0.0, 1.0, 4.0]), named)


def test_a_cap_belongs_to_the_device_of_its_number():
    samples = recorded(
        **{
            "8:16.max_wbps": [2048, NAN, 1024],
            "8:16.max_riops": [50, NAN, 50],
            "8:0.reads": [0] * 3,
        }
    )
    number = np.array([8 << 20 | 16, NAN, 8 << 20 | 16])
    samples.columns["disk.sdb.number"] = number
    samples.columns["disk.sda.number"] = number - 16
    assert caps_by_device(samples) == {"sdb": {"cap_wkB/s": 1, "cap_r/s": 50}}


def test_what_the_group_moved_stands_beside_its_cap():
    samples = recorded(
        **{
            "8:16.max_riops": [50, NAN, 50],
            "8:16.capped_reads": [10, NAN, 170],
            "8:16.max_wbps": [1024, NAN, 1024],
            "8:16.capped_written_bytes": [NAN, NAN, 4096],
            "8:16.reads": [0, 0, 9],
        }
    )
    samples.columns["disk.sdb.number"] = np.full(3, 8 << 20 | 16)
    assert caps_by_device(samples) == {"sdb": {"cap_wkB/s": 1, "cap_r/s": 50, "capped_r/s": 40}}


def test_time_held_back_is_read_now_and_then():
    assert cgroup_figures(recorded(throttled_us=[0, NAN, 1e6]))["%quota"] == pytest.approx(25)
    assert cgroup_figures(recorded(throttled_us=[0, NAN, 9e6]))["%quota"] == 100
    assert cgroup_figures(recorded(memory_high=[1, 3, 9])) == {"memory_high/s": 2}
    assert cgroup_figures(recorded()) == {}


@pytest.mark.root
@pytest.mark.skipif(not device._limits_io(), reason="no control group that limits I/O")
def test_the_cap_and_the_bytes_of_a_real_group_are_seen(loop, state_dir):
    wanted = device.wanted(loop, wbps="16MiB", riops="70")
    with Transaction() as transaction, transaction.applied(*kinds.changes(wanted)):
        recorder = ProcRecorder([loop], [os.getpid()], hz=20)
        recorder.start()
        device.bytes_per_second(loop, writes=4)
        telemetry = recorder.stop()
    seen = telemetry.seen.devices[loop]
    assert (seen["cap_wkB/s"], seen["cap_r/s"]) == (16 * 1024, 70)
    assert "cap_rkB/s" not in seen
    written = [own["written_bytes"] for own in telemetry.samples.keyed("cgroup").values()]
    assert [values[-1] - values[0] for values in written] == [4 * MIB]
    assert seen["capped_wkB/s"] * telemetry.seen.seconds == pytest.approx(4 * KIB)
    assert seen["capped_r/s"] == 0


@pytest.mark.root
@pytest.mark.skipif(not device._limits_io(), reason="no control group that limits I/O")
def test_what_others_read_does_not_count_against_the_groups_cap():
    with emulated.filled_disk() as disk, emulated.capped(disk, riops=500) as group:
        own = emulated.io([disk], "read", group, think_seconds=0.02)
        other = emulated.io([disk], "read")
        seen = emulated.recorded([disk], [own], beside=[other])
    figures = seen.devices[disk]
    assert figures["r/s"] > 500
    assert 0 < figures["capped_r/s"] < 60
    findings = diagnose(seen, Ground((disk,), concurrency=1)).findings
    assert Limit.CAP not in {finding.limit for finding in findings}


def test_without_a_workload_there_is_no_group():
    recorder = ProcRecorder([])
    recorder.start()
    assert recorder.stop().samples.keyed("cgroup") == {}


@pytest.mark.root
def test_a_group_that_used_up_its_quota_is_held_back():
    script = "import sys; open(sys.argv[1], 'w').write('0'); print(flush=True)\nwhile True: pass"
    with (
        cpu_group(quota_us=10_000, period_us=100_000) as group,
        subprocess.Popen(
            [sys.executable, "-c", script, str(group / "cgroup.procs")], stdout=subprocess.PIPE
        ) as busy,
    ):
        assert busy.stdout is not None
        busy.stdout.readline()
        recorder = ProcRecorder([], [busy.pid], hz=20)
        recorder.start()
        time.sleep(1)
        machine = recorder.stop().seen.machine
        busy.kill()
    # How long depends on how fast it used up its share, which others may hold back as well.
    assert 5 < machine["%quota"] <= 100


@contextmanager
def cpu_group(quota_us, period_us):
    """A group of that quota; skips where there can be none."""
    top = Path("/sys/fs/cgroup")
    v1 = top / "cpu"
    group = (v1 if v1.exists() else top) / f"quota-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no group can be made: {error}")
    try:
        if v1.exists():
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        elif (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{quota_us} {period_us}")
        else:
            pytest.skip("the cpu controller is not handed down here")
        yield group
    finally:
        group.rmdir()
