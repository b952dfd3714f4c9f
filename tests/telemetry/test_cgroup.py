"""Caps and throttling of a control group."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence
from iostudy.diagnosis.rules.memory import STALLED
from iostudy.diagnosis.rules.processor import THROTTLED
from iostudy.settings import kinds
from iostudy.settings.transaction.transaction import Transaction
from iostudy.telemetry.cgroup import compute_caps, compute_cgroup_figures
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
    assert compute_caps(samples) == {"sdb": {"cap_wkB/s": 1, "cap_r/s": 50}}


def test_a_cap_has_the_rate_of_its_group():
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
    assert compute_caps(samples) == {"sdb": {"cap_wkB/s": 1, "cap_r/s": 50, "capped_r/s": 40}}


def test_time_held_back_is_read_now_and_then():
    assert compute_cgroup_figures(recorded(throttled_us=[0, NAN, 1e6]))["%quota"] == pytest.approx(
        25
    )
    assert compute_cgroup_figures(recorded(throttled_us=[0, NAN, 9e6]))["%quota"] == 100
    limits = recorded(memory_high=[1, 3, 9], memory_max_hits=[0, NAN, 2])
    assert compute_cgroup_figures(limits) == {"memory_high/s": 2, "memory_max_hits/s": 0.5}
    assert compute_cgroup_figures(recorded()) == {}


@pytest.mark.parametrize(
    ("processors", "used", "held_back", "percent"),
    [
        (1, 2.0, 2.0, 50),  # one at half a core
        (4, 4.0, 12.0, 75),  # four at a core together
        (
            4,
            0.4,
            0.4,
            10,
        ),  # at work for a twentieth of the time, on four: at most one after another
        (4, 15.9, 0.1, 0.625),  # four that hardly run out
    ],
)
def test_held_back_on_several_processors_is_a_share_of_the_time(
    processors, used, held_back, percent
):
    columns = {"throttled_us": [0, NAN, held_back * 1e6]}
    of_group = recorded(**columns, used_us=[7, NAN, 7 + used * 1e6])
    assert compute_cgroup_figures(of_group)["%quota"] == pytest.approx(percent)
    of_workload = recorded(**columns)
    of_workload.columns["workload.cpu_us"] = np.array([7, NAN, 7 + used * 1e6])
    assert compute_cgroup_figures(of_workload)["%quota"] == pytest.approx(percent)


def test_throttled_share_is_bounded_by_throttled_periods():
    """Of 40 periods in two: eight processors, each held back for nearly all of both."""
    columns = {"throttled_us": [0, NAN, 8 * 2 * 95e3], "period_us": [1e5, NAN, 1e5]}
    of_two = recorded(**columns, throttled_periods=[5, NAN, 7])
    assert compute_cgroup_figures(of_two)["%quota"] == pytest.approx(5)


@pytest.mark.root
@pytest.mark.skipif(not device._limits_io(), reason="no control group that limits I/O")
def test_the_cap_and_the_bytes_of_a_real_group(loop, state_dir):
    wanted = device.wanted(loop, wbps="16MiB", riops="70")
    with (
        Transaction() as transaction,
        transaction.apply_temporarily(*kinds.prepare_changes(wanted)),
    ):
        recorder = ProcRecorder([loop], [os.getpid()], hz=20)
        recorder.start()
        device.bytes_per_second(loop, writes=4)
        telemetry = recorder.stop()
    summary = telemetry.summary.devices[loop]
    assert (summary["cap_wkB/s"], summary["cap_r/s"]) == (16 * 1024, 70)
    assert "cap_rkB/s" not in summary
    number = Path(f"/sys/block/{loop}/dev").read_text().strip()
    # The group may write to other disks too: pytest's own output lies on one.
    written = telemetry.samples.keyed("cgroup")[number]["written_bytes"]
    assert written[-1] - written[0] == 4 * MIB
    assert summary["capped_wkB/s"] * telemetry.summary.seconds == pytest.approx(4 * KIB)
    assert summary["capped_r/s"] == 0


@pytest.mark.root
@pytest.mark.skipif(not device._limits_io(), reason="no control group that limits I/O")
def test_foreign_reads_do_not_count_against_a_groups_cap():
    with emulated.filled_disk() as disk, emulated.capped_group(disk, riops=500) as group:
        own = emulated.io([disk], "read", group, think_seconds=0.02)
        other = emulated.io([disk], "read")
        summary = emulated.record([disk], [own], others=[other])
    figures = summary.devices[disk]
    assert figures["r/s"] > 500
    assert 0 < figures["capped_r/s"] < 60
    findings = diagnose(summary, DiagnosisContext((disk,), concurrency=1)).findings
    assert Bottleneck.CAP not in {finding.limit for finding in findings}


def test_without_a_workload_there_is_no_group():
    recorder = ProcRecorder([])
    recorder.start()
    assert recorder.stop().samples.keyed("cgroup") == {}


@pytest.mark.root
@pytest.mark.parametrize("spinners", [1, 4])
def test_a_group_that_used_up_its_quota_is_held_back(spinners):
    """Half a core for all of them: what one has of it, or a part of it on each processor."""
    at_once = min(spinners, os.cpu_count() or 1)
    with emulated.favoured_group(cores=0.5) as group:
        summary = emulated.record([], [emulated.spin(group)] * spinners)
    # How long depends on how fast they used up their share, which others may hold back as well.
    assert THROTTLED.high <= summary.machine["%quota"] <= 100 * (1 - 0.5 / at_once) + 15
    (first, *_) = diagnose(summary, DiagnosisContext()).findings
    assert (first.limit, first.confidence) == (Bottleneck.QUOTA, Confidence.HIGH)


@pytest.mark.root
def test_the_group_pressure_attributes_memory_stalls():
    """A reader of a slow disk, with a writer that is at the limit of a group of its own."""
    with (
        reading(emulated.separate_groups) as (disk, reader),
        writing_with_little_memory(emulated.separate_groups) as (other, writer),
    ):
        read = emulated.record([disk], [reader], others=[writer])
        written = emulated.record([other], [writer], others=[reader])
    stalls = [summary.machine["memory_some"] for summary in (read, written)]
    if min(stalls) < STALLED.low:
        pytest.skip(
            f"others held the writer back: memory stalled for {min(stalls):.0f} % of the time"
        )
    assert read.machine["group_memory_some"] < STALLED.low
    assert memory(read, disk) is None
    stalled = written.machine["group_memory_some"]
    assert stalled >= STALLED.low
    assert memory(written, other) is STALLED.grade(stalled)


@pytest.mark.root
def test_without_a_separate_group_memory_stalls_have_low_confidence():
    with (
        reading(nullcontext) as (disk, reader),
        writing_with_little_memory(nullcontext) as (_, writer),
    ):
        summary = emulated.record([disk], [reader], others=[writer])
    assert summary.machine["memory_some"] >= STALLED.low
    assert memory(summary, disk) in {None, Confidence.LOW}


@contextmanager
def reading(apart):
    """16 threads that read from a disk of 500 reads a second: the disk, and their program."""
    with (
        emulated.filled_disk() as below,
        emulated.stacked_loop(below) as disk,
        emulated.capped_group(below, riops=500) as group,
        apart() as own,
    ):
        yield disk, emulated.io([disk], "read", group, own or (), threads=16)


@contextmanager
def writing_with_little_memory(apart):
    """The same of four that write through the page cache, of which 60 MiB may be theirs."""
    with (
        emulated.filled_disk() as disk,
        emulated.favoured_group(memory_bytes=60 * MIB) as group,
        apart() as own,
    ):
        writes = {"direct": False, "order": "sequential", "record_bytes": 64 * KIB}
        yield disk, emulated.io([disk], "write", group, own or (), threads=4, **writes)


def memory(summary, disk):
    """The confidence of the finding that memory was the limit."""
    findings = diagnose(summary, DiagnosisContext((disk,))).findings
    return next((each.confidence for each in findings if each.limit is Bottleneck.RECLAIM), None)
