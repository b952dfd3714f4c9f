"""Tests of a search by the program: run, killed, resumed, confirmed, reported and persisted."""

from __future__ import annotations

import time

import pytest

from iostudy.ledger.store import FILE_NAME
from iostudy.ledger.studies import CONFIRMATION
from iostudy.study.parser import load
from iostudy_search.result import read_search

pytestmark = pytest.mark.root
SEARCH = """\
question: Which?
target: {loopback: {size: 64MiB}}
search:
  parameters:
    workload.record_size: [64KiB, 1MiB]
    block.read_ahead_kb: [64, 256]
  budget: 8 trials
  try: {known: {workload.record_size: 1MiB, block.read_ahead_kb: 256}}
workloads:
  - io: {label: file-reads, files: 2, size: 8MiB, record_size: 4KiB, direct: true}
decide: {margin: 3%, risk: 5%, blocks: [4, 8]}
"""


def test_a_search_that_is_killed_twice_is_resumed_confirmed_and_kept(program):
    """In its trials, and before its confirmation."""
    program.write(SEARCH)
    process = program.start_study()
    program.wait_for_trials(process, 6)
    program.kill_without_watchdog(process)
    before = read_search(program.out).candidates
    early = program("persist", "out")
    assert (early.returncode, "has no confirmation yet" in early.stderr) == (2, True)

    file = program.out / f"{CONFIRMATION}.yaml"
    process = program.start_study("--resume")
    while process.poll() is None and not file.exists():
        time.sleep(0.001)
    program.kill_without_watchdog(process)
    assert not (program.out / CONFIRMATION / FILE_NAME).exists()
    trials, found = program.rows(), read_search(program.out)
    assert found.candidates[: len(before)] == before
    assert found.outcome is not None
    assert found.outcome.winner is not None
    assert program.residue() == []

    done = program.run_study("--resume")
    assert done.returncode == 0, done.stderr
    assert (program.rows(), read_search(program.out)) == (trials, found)
    assert f"confirming {found.outcome.winner} in fresh blocks" in done.stderr
    assert program.residue() == []

    own = load(file)
    assert [each.label for each in own.configurations()] == ["default", found.outcome.winner]
    assert (program.out / CONFIRMATION / "report.html").exists()
    # A loop device has no name that a rule could match, and a busy disk may confirm no winner.
    kept = program("persist", "out", "--format", "udev")
    assert "the study study-confirmation" in kept.stderr
    assert found.outcome.winner in kept.stderr

    again = program.run_study("--resume")
    assert "is complete; this is its answer" in again.stderr
    assert again.returncode == 0
    report = " ".join(program("report", "out").stdout.split())
    assert "the verdict comes from fresh blocks" in report
    assert "gains" in report


def test_check_prints_space_budget_and_confirmation(program):
    program.write(SEARCH)
    output = " ".join(program("check", "study.yaml", "--full").stdout.split())
    assert "workload.record_size 64KiB, 1MiB; default 4KiB" in output
    assert "space 4 points, and the default" in output
    assert "tried first known: workload.record_size=1MiB, block.read_ahead_kb=256" in output
    assert "budget 8 trials" in output
    assert "confirmation 8 to 16 trials" in output
