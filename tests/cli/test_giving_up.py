"""Tests of studies that give up a workload: exit codes and report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

FAILING = """\
question: Which?
target: .
factors: {limit.nofile_soft: [1024, 900]}
workloads:
  - command: {run: "sleep 0.01", label: sleeps}
  - command: {run: 'test "$(ulimit -n)" -gt 2000', shell: true, label: fails}
decide: {margin: 99%, risk: 49%, blocks: [3, 3]}
"""
LIMITED = """\
question: Which?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 16MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [3, 3]}
validity: {foreign_cpu: 1%, attempts: 1}
"""


@contextmanager
def busy() -> Iterator[None]:
    """Other programs that compute on every core."""
    compute = "print(flush=True)\nwhile True: pass"
    processes = [
        subprocess.Popen([sys.executable, "-c", compute], stdout=subprocess.PIPE)
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            with process.stdout as begun:
                begun.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def report(program):
    return json.loads((program.out / "report.json").read_text())


@pytest.mark.child
def test_a_workload_that_fails_under_one_configuration_ends_in_3_with_the_report(program):
    program.write(FAILING)
    done = program.run_study()
    assert done.returncode == 3
    assert "fails was given up in block 1: none of 3 attempts counts" in " ".join(
        done.stdout.split()
    )
    assert "900" in done.stdout
    assert "remedy: correct the cause and resume" in done.stderr
    found = report(program)
    assert [own["workload"] for own in found["given_up"]] == ["fails"]
    assert found["given_up"][0]["disturbed"] is False
    sleeps = next(own for own in found["workloads"] if own["label"] == "sleeps")
    assert sleeps["results"][1]["blocks"] >= 3


@pytest.mark.process  # a child of these tests is foreign to it
def test_a_limit_that_is_never_met_is_no_error_and_a_resumption_tries_again(program):
    program.write(LIMITED)
    with busy():
        done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert "is given up in block 1" in done.stderr, done.stderr
    assert "given up in block 1: none of 1 attempts counts" in " ".join(done.stdout.split())
    reason = report(program)["given_up"][0]["reason"]
    assert re.search(r"other processes took .* by \S+ \(pid \d+\)", reason)
    with busy():
        again = program.run_study("--resume", "--fail-on", "inconclusive")
    assert again.returncode == 1
    assert {trial["attempt"] for trial in report(program)["trials"]} == {1, 2}


@pytest.mark.process  # as above
def test_without_limits_every_trial_counts_on_a_busy_machine(program):
    program.write(LIMITED[: LIMITED.index("validity")])
    with busy():
        done = program.run_study()
    assert done.returncode == 0, done.stderr
    found = report(program)
    assert found["given_up"] == []
    assert all(trial["counts"] for trial in found["trials"])
    cpu = next(own for own in found["covariates"] if own["covariate"] == "foreign CPU")
    assert all(each["share"] > 0.1 for each in cpu["shares"])
