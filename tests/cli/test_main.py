"""A path that cannot even be looked at is an error of its own in every command."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from iostudy.cli.main import EXIT_CODES, _unreachable, app
from tests.cli.program import study

README = Path(__file__).parents[2] / "README.md"
# No file system has names of more than 255 bytes, whoever asks.
TOO_LONG = "/" + "x" * 300
OPTIONS = """\
question: Which?
target: PLACE
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "study.yaml", "--out", TOO_LONG),
        ("check", "study.yaml"),
        ("check", f"{TOO_LONG}.yaml"),
        ("report", TOO_LONG),
        ("persist", TOO_LONG),
        ("doctor", TOO_LONG),
        ("get", "mount.atime", "--on", TOO_LONG),
        ("bench", "dfsio-read", "--target", TOO_LONG),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_tells_of_a_path_that_cannot_be_looked_at(program, arguments):
    program.write(study(OPTIONS.replace("PLACE", TOO_LONG)))
    done = program(*arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert TOO_LONG in done.stderr
    assert "remedy" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [errno.EACCES, errno.ELOOP, errno.ENOTDIR])
def test_what_keeps_a_path_from_being_looked_at(number):
    told = _unreachable(OSError(number, "no", "/root/x"))
    assert told is not None
    assert (told.where, told.found) == ("/root/x", "no")


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, "no"), OSError(errno.ENOSPC, "no", "/x"), OSError("no")]
)
def test_other_errors_are_not_taken_for_one_of_a_path(error):
    assert _unreachable(error) is None


def test_the_readme_has_the_commands_of_the_help_in_their_order_and_its_exit_codes():
    text = README.read_text(encoding="utf-8")
    commands = [command.name for command in app.registered_commands]
    groups = [group.name for group in app.registered_groups]
    assert re.findall(r"^\| `iostudy ([a-z]+)", text, re.MULTILINE) == [*commands, *groups]
    assert EXIT_CODES in " ".join(text.replace("`", "").split())
