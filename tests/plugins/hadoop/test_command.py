"""Tests of child programs: complete output, and termination with all descendants."""

from __future__ import annotations

import os

import pytest

from iostudy_hadoop.command import CommandFailedError, CommandLimits, run_command
from tests.plugins.hadoop import scripts

pytestmark = pytest.mark.child

SOON = CommandLimits(seconds=60, silence_seconds=60)


@pytest.fixture
def program(tmp_path):
    def make(text):
        return (str(scripts.write(tmp_path / "bin", "program", text)),)

    return make


def test_output_and_status_are_returned(program):
    received = []
    said = run_command(
        program("echo one\necho two >&2\nprintf three\nexit 7"), SOON, os.environ, received.append
    )
    assert (said.status, said.lines) == (7, ("one", "two", "three"))
    assert received == ["one", "two"]
    assert said.end() == "one / two / three"


def test_a_command_has_the_given_environment_only(program):
    said = run_command(program("env"), SOON, {"PATH": os.environ["PATH"], "ONE": "1"})
    assert "ONE=1" in said.lines
    assert not any(line.startswith("HOME=") for line in said.lines)


@pytest.mark.parametrize(
    ("text", "limits", "found"),
    [
        ("sleep 3333", CommandLimits(60, 1), "it had printed nothing more after 1.0 s"),
        (
            "while :; do echo; sleep 0.05; done",
            CommandLimits(1, 60),
            "it had not ended after 1.0 s",
        ),
        ("exec >&- 2>&-; sleep 3333", CommandLimits(1, 60), "it had not ended after 1.0 s"),
        ("yes", CommandLimits(1, 60), "it had not ended after 1.0 s"),
    ],
    ids=["silent", "endless", "closed", "rubbish"],
)
def test_command_is_ended_after_its_time_limit(program, text, limits, found, tmp_path):
    pid_file = tmp_path / "pid"
    with pytest.raises(CommandFailedError, match=f"^{found}$"):
        run_command(program(f"echo $$ > {pid_file}\n{text}"), limits, os.environ)
    scripts.require_ended(int(pid_file.read_text()))


def test_start_failure_is_reported(tmp_path):
    with pytest.raises(CommandFailedError, match="cannot be started: No such file or directory"):
        run_command((str(tmp_path / "none"),), SOON, os.environ)


def test_a_signal_ends_it_too(program, tmp_path):
    def interrupt(_line):
        raise KeyboardInterrupt

    pid_file = tmp_path / "pid"
    with pytest.raises(KeyboardInterrupt):
        run_command(
            program(f"echo $$ > {pid_file}\necho x\nsleep 3333"), SOON, os.environ, interrupt
        )
    scripts.require_ended(int(pid_file.read_text()))


def test_output_without_line_ends_takes_little_memory(program):
    said = run_command(program("head -c 50000000 /dev/zero"), SOON, os.environ)
    assert sum(map(len, said.lines)) == 1 << 16
