"""Changes that cannot be restored, and the choices of a user."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from iostudy.settings import kinds
from iostudy.settings.scratch import steps
from iostudy.settings.transaction.journal import Journal, JournalMode
from tests.cli.program import endless, study

pytestmark = pytest.mark.root


def read_ahead(loop: str) -> Path:
    return Path("/sys/block") / loop / "queue/read_ahead_kb"


@pytest.fixture
def conflict(program, loop):
    """`set` was killed before it committed, and somebody else has set the value since."""
    original = read_ahead(loop).read_text()
    change = kinds.prepare_changes(dict.fromkeys(kinds.bind("block.read_ahead_kb", loop), "64"))
    journal = Journal.create(program.folder / "state", JournalMode.SET, "iostudy set")
    journal.log_changes(change)
    journal.close()
    read_ahead(loop).write_text("32")
    return original


def test_a_conflict_stops_what_changes_the_host_and_nothing_else(program, loop, conflict):
    program.write(study())
    for arguments in (("settings",), ("get", "block.scheduler", "--on", loop), ("doctor", loop)):
        done = program(*arguments, "--json")
        assert done.returncode == 0
        assert "warning: " in done.stderr
        assert "restore --accept" in done.stderr
        assert done.stdout.startswith(("{", "["))
    for arguments in (
        ("try", "true", "false", "--print"),
        ("report-study", "R3", "--size", "smoke", "--plan"),
    ):
        done = program(*arguments)
        assert done.returncode == 0, done.stderr
        assert "warning: " in done.stderr
    for arguments in (
        ("run", "study.yaml"),
        ("set", "block.nr_requests=64", "--on", loop),
        ("try", "true", "false"),
        ("report-study", "R3", "--size", "smoke"),
    ):
        done = program(*arguments)
        assert done.returncode == 4
        assert "restore --accept" in done.stderr
    assert program("restore").returncode == 4
    assert read_ahead(loop).read_text() == "32\n"


def test_accept_keeps_a_foreign_value(program, loop, conflict):
    done = program("restore", "--accept")
    assert done.returncode == 0
    assert f"block.read_ahead_kb of {loop}: left at 32" in done.stderr
    assert "nothing to restore" in program("restore").stderr
    assert read_ahead(loop).read_text() == "32\n"


def test_force_overwrites_a_foreign_value(program, loop, conflict):
    assert program("restore", "--force").returncode == 0
    assert read_ahead(loop).read_text() == conflict


def test_setting_changed_twice_is_restored_in_one_line(program, loop):
    original = read_ahead(loop).read_text()
    for value in ("64", "32"):
        assert program("set", f"block.read_ahead_kb={value}", "--on", loop).returncode == 0
    output = program("restore").stderr.splitlines()
    assert output == [f"restored: block.read_ahead_kb of {loop}: 32 -> {original.strip()}"]


def test_force_and_accept_are_exclusive(program):
    done = program("restore", "--accept", "--force")
    assert done.returncode == 2
    assert "--accept to keep" in done.stderr


def test_values_held_on_a_device_under_study_wait_for_its_end(program, loop):
    """The study's own state directory is another one: locks are for the whole host."""
    original = read_ahead(loop).read_text()
    program("set", "block.read_ahead_kb=64", "--on", loop)
    text = endless()
    program.write(
        text.replace("{loopback: {size: 64MiB}}", f"{{scratch: {{device: /dev/{loop}}}}}")
    )
    mine, program.env["IOSTUDY_STATE_DIR"] = (
        program.env["IOSTUDY_STATE_DIR"],
        str(program.folder / "other-state"),
    )
    process = program.start_study("--yes")
    program.wait_for_trials(process, 1)
    live = program("restore")
    program.env["IOSTUDY_STATE_DIR"] = mine
    done = program("restore")
    held = read_ahead(loop).read_text()
    process.terminate()
    process.communicate()
    assert (live.returncode, done.returncode) == (0, 4)
    assert f"left alone: process {process.pid} " in live.stderr
    assert f"to undo: block.read_ahead_kb of {loop}: " in done.stderr
    assert str(process.pid) in done.stderr
    assert held == "64\n"
    assert program("restore").returncode == 0
    assert read_ahead(loop).read_text() == original


def test_restore_failure_takes_precedence_over_a_signal(program, monkeypatch):
    """Somebody sits in the scratch disk, so that it cannot be unmounted."""
    monkeypatch.setattr(steps, "_PATIENCE_SECONDS", 0.2)
    program.write(endless())
    process = program.start_study()
    program.wait_for_trials(process, 1)
    (mount,) = program.out.glob("scratch-*/mount")
    with (mount / "open").open("w"):
        for number in (signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
            time.sleep(0.5)
        _, stderr = process.communicate()
    assert process.returncode == 4
    assert "umount" in stderr or "busy" in stderr
    assert "Traceback" not in stderr
    done = program("restore")
    assert done.returncode == 0, done.stderr
    assert program.residue() == []
