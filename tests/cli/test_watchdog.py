"""kill -9 of a run: its watchdog restores everything within seconds, without a second command."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from iostudy.ledger.rows import TrialStatus
from tests.cli.program import endless, study

pytestmark = [pytest.mark.root, pytest.mark.process]

HANG_GUARD_SECONDS = 120


@pytest.fixture
def running(program):
    """A study in a process group of its own, after its first trial."""
    program.write(endless())
    process = program.start_study_in_group()
    program.wait_for_trials(process, 1)
    return process


def wait_until_restored(program):
    deadline = time.monotonic() + HANG_GUARD_SECONDS
    while program.residue() or list((program.folder / "state").glob("*.journal")):
        assert time.monotonic() < deadline, program.residue()
        time.sleep(0.05)
    while program.watchdogs():
        assert time.monotonic() < deadline, "the watchdog does not end"
        time.sleep(0.05)


@pytest.mark.parametrize("kill", [os.kill, os.killpg])
def test_watchdog_restores_and_the_next_command_reports_it(program, running, kill):
    assert program.residue() != []
    kill(running.pid, signal.SIGKILL)
    running.communicate()
    wait_until_restored(program)
    log = (program.out / "watchdog.log").read_text()
    assert "loop-back scratch disk" in log
    assert (program.out / "watchdog.log").stat().st_mode & 0o777 == 0o600
    done = program("restore")
    assert log in done.stderr
    assert "nothing to restore" in done.stderr
    assert "watchdog" not in program("restore").stderr


def test_next_command_restores_after_a_kill_of_the_watchdog_too(program, running):
    assert len(program.watchdogs()) == 1
    program.kill_without_watchdog(running)
    time.sleep(1)
    assert program.residue() != []
    assert "restored: " in program("settings").stderr
    assert program.residue() == []
    assert not (program.out / "watchdog.log").exists()


def test_watchdog_keeps_no_file_of_the_study_open(program, running):
    (pid,) = program.watchdogs()
    process = Path(f"/proc/{pid}")
    opened = [str(link.readlink()) for link in (process / "fd").iterdir()]
    assert str((process / "cwd").readlink()) == "/"
    assert not [path for path in opened if path.startswith(str(program.out))]
    assert os.getsid(pid) != os.getsid(running.pid)
    lines = (process / "status").read_text().splitlines()
    (rss_kib,) = (int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    assert rss_kib < 4096


def test_study_resumes_at_once(program):
    program.write(study(blocks=12).replace("3%", "0.01%"))
    process = program.start_study()
    program.wait_for_trials(process, 4)
    process.kill()
    process.communicate()
    done = program.run_study("--resume")
    assert done.returncode == 0, done.stderr
    wait_until_restored(program)
    assert sum(row.status is TrialStatus.FINISHED for row in program.rows()) >= 4


def test_watchdog_ends_with_a_complete_run(program):
    program.write(study())
    assert program.run_study().returncode == 0
    wait_until_restored(program)
    assert not (program.out / "watchdog.log").exists()
    assert not list((program.folder / "state").glob("*.watchdog"))
