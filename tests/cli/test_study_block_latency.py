"""Tests of a study with traced block requests, and of its refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.report.render import json_
from iostudy.settings import trace_instance
from iostudy.settings.trace_instance import PREFIX
from tests.cli.program import Program
from tests.json_schema import assert_conforms

pytestmark = pytest.mark.root
STUDY = """\
question: Which?
target: TARGET
factors: {workload.direct: [true, false]}
workloads: [{io: {label: file-writes, operation: write, sync: fsync, files: 1, size: 4MiB}}]
decide: {margin: 90%, risk: 40%, blocks: [3, 3]}
telemetry: {block_latency: true}
"""
ON_DISK = STUDY.replace("TARGET", "{loopback: {size: 64MiB}}")
BLOCKS, WRITTEN_BYTES = 3, 4 << 20


def test_every_trial_is_traced_and_the_report_pools_them(tracing: Path, program: Program) -> None:
    program.write(ON_DISK)
    checked = program("check", "study.yaml", "--full")
    assert checked.returncode == 0, checked.stderr
    assert "every request of the disks is traced" in checked.stdout
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert "every request of the disks is traced" in done.stderr
    assert program.residue() == []
    assert list((tracing / "instances").glob(f"{PREFIX}*")) == []

    document = json.loads((program.out / "report.json").read_text("utf-8"))
    assert_conforms(document, json_.build_schema())
    rows = [row for row in program.rows() if row.counts]
    for own in document["block_requests"]:
        assert own["trials"] == BLOCKS
        (write,) = [
            each
            for each in own["requests"]
            if (each["device"], each["operation"]) == (document["device"], "write")
        ]
        kept = [
            row.summary.requests.devices[row.device]["write"]
            for row in rows
            if row.configuration == own["configuration"] and row.summary and row.summary.requests
        ]
        assert len(kept) == BLOCKS
        assert all(each.moved_bytes >= WRITTEN_BYTES for each in kept)
        assert write["count"] == sum(write["counts"]) == sum(each.count for each in kept)
        assert min(k.mean_us for k in kept) <= write["mean_us"] <= max(k.mean_us for k in kept)
        assert write["percentiles_us"]["max"] <= max(each.max_us for each in kept)
    assert "### Block request latency" in (program.out / "report.md").read_text("utf-8")
    assert "Block request latency" in (program.out / "report.html").read_text("utf-8")


def test_target_without_a_disk_fails_before_the_run(tracing: Path, program: Program) -> None:
    program.write(STUDY.replace("TARGET", "/dev/shm"))
    for done in (program("check", "study.yaml", "--full"), program.run_study()):
        assert done.returncode == 2
        assert "no block device below the target" in done.stderr


def test_without_tracefs_no_scratch_disk_is_created(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_instance, "find_tracefs", lambda: None)
    program.write(ON_DISK)
    for done in (program("check", "study.yaml", "--full"), program.run_study()):
        assert done.returncode == 2
        assert "mount -t tracefs nodev /sys/kernel/tracing; or measure without them" in done.stderr
    assert program.residue() == []
