"""Tests of studies and benches on a real cluster that iostudy starts and stops."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.ledger.rows import TrialStatus
from tests.cli.program import Program

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("java")]

HANG_GUARD_SECONDS = 900
STUDY = """\
question: Does the scheduler matter to Hadoop's jobs?
target: {loopback: {size: 1GiB}}
factors: {block.scheduler: [bfq], hadoop.dfs.blocksize: [16MiB]}
workloads:
  - hadoop.mrbench: {jobs: JOBS}
decide: {margin: 3%, risk: 5%, blocks: [3, 3]}
"""
NAMENODE, DATANODE, JOB = ("namenode.NameNode", "datanode.DataNode", "mapred.MRBench")


def processes(folder: Path, main_class: str = "") -> list[int]:
    """Those that have the folder in their command line, and run that class."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command and main_class in command and "java" in command:
            found.append(int(entry.name))
    return found


def wait_for(process: subprocess.Popen[str], folder: Path, main_class: str) -> int:
    """The pid of a process of that class, as soon as there is one."""
    until = time.monotonic() + HANG_GUARD_SECONDS
    while process.poll() is None and time.monotonic() < until:
        if found := processes(folder, main_class):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(process.communicate())


@pytest.fixture
def clean(program: Program) -> Iterator[Program]:
    yield program
    assert program.residue() == []
    assert processes(program.folder) == []


@pytest.mark.slow
def test_a_datanode_that_dies_costs_its_block_and_the_study_completes(clean: Program) -> None:
    clean.write(STUDY.replace("JOBS", "1"))
    process = clean.start_study()
    wait_for(process, clean.folder, JOB)
    os.kill(wait_for(process, clean.folder, DATANODE), signal.SIGKILL)
    output, said = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 0, said
    assert "starting Hadoop" in said
    assert "the cluster is ready after" in said
    assert "hadoop.mrbench" in output
    counted = [row for row in clean.rows() if row.counts]
    assert len(counted) == 3
    device = counted[0].device
    for row in counted:
        scheduler = row.settings[f"block.scheduler@{device}"]
        assert scheduler in row.configuration
        assert row.settings["hadoop.dfs.blocksize@cluster"] == str(16 << 20)
        assert {"configure", "reset", "settle", "run"} <= set(row.phases)
    (invalid,) = (row for row in clean.rows() if row.status is TrialStatus.INVALID)
    assert "datanode0" in invalid.reason
    assert (clean.out / "hadoop" / "logs" / "namenode.log").stat().st_size > 0
    assert not (clean.out / "hadoop" / "cluster.json").exists()
    assert '"version": "3.4.2"' in (clean.out / "report.md").read_text()


def test_after_kill_9_in_mid_job_the_next_command_leaves_nothing(clean: Program) -> None:
    clean.write(STUDY.replace("JOBS", "1000"))
    process = clean.start_study()
    wait_for(process, clean.folder, JOB)
    clean.kill_without_watchdog(process)
    assert processes(clean.folder, NAMENODE)
    assert clean.residue()
    shown = clean("settings")
    assert "Hadoop cluster" in shown.stderr


def test_interrupted_bench_stops_its_cluster(clean: Program) -> None:
    target = clean.folder / "target"
    target.mkdir()
    process = clean.start("bench", "hadoop.mrbench", "--target", str(target), "-o", "jobs=1000")
    wait_for(process, clean.folder, JOB)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 128 + signal.SIGINT, said
    assert list(target.iterdir()) == []
