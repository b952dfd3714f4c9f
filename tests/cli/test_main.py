"""Errors that every command may meet, each with its exit code and without a traceback."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from iostudy.cli.commands import all_commands, load
from iostudy.cli.main import EXIT_CODES
from tests.cli.program import study

PAGE = Path(__file__).parents[2] / "docs/commands.md"
# No file system has names of more than 255 bytes, whoever asks.
TOO_LONG = "/" + "x" * 300
OPTIONS = """\
question: Which?
target: PLACE
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 1MiB}}]
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
        ("bench", "io", "--target", TOO_LONG),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_reports_an_inaccessible_path(program, arguments):
    program.write(study(OPTIONS.replace("PLACE", TOO_LONG)))
    done = program(*arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "the path is too long" in done.stderr or TOO_LONG in done.stderr
    assert "remedy" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("argument", ["out\udcff", "\udced\udca0\udc80"])
def test_arguments_that_are_not_utf8_are_refused_before_anything_is_done(program, argument):
    program.write(study(OPTIONS.replace("PLACE", ".")))
    done = program("run", "study.yaml", "--out", argument)
    assert (done.returncode, "arguments in UTF-8" in done.stderr) == (2, True), done.stderr
    assert [path.name for path in program.folder.iterdir()] == ["study.yaml"]


class PanicException(BaseException):
    """As pyo3's, which is no Exception."""


@pytest.mark.parametrize("error", [ValueError("a\nb"), PanicException("core"), AssertionError()])
def test_an_internal_error_has_its_own_exit_code_and_keeps_its_traceback(
    program, monkeypatch, error
):
    def fail(**_: str) -> None:
        raise error

    monkeypatch.setattr("iostudy.cli.main.app", fail)
    done = program("settings")
    (path,) = (program.folder / "state").glob("crash-*")
    assert (done.returncode, done.stderr.count("\n")) == (70, 1)
    assert str(path) in done.stderr
    assert type(error).__name__ in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_error_while_an_error_is_printed_exits_with_70(program, monkeypatch):
    """1 is a verdict's: no failure of iostudy may end in it."""

    def fail(_: str) -> None:
        raise UnicodeEncodeError("ascii", "\u2192", 0, 1, "no")

    monkeypatch.setattr("iostudy.cli.main.say", fail)
    assert program("settings", "--nonsense-path", "x").returncode == 2
    assert program("report", "/nonexistent").returncode == 70


def test_an_internal_error_is_printed_where_its_traceback_cannot_be_kept(program, monkeypatch):
    monkeypatch.setattr("iostudy.cli.main.app", lambda **_: {}["x"])
    (program.folder / "state").write_text("no folder")
    done = program("settings")
    assert done.returncode == 70
    assert "KeyError" in done.stderr
    assert "stderr, above" in done.stderr.splitlines()[-1]
    (program.folder / "state").unlink()


def test_settings_are_restored_before_an_internal_error_is_reported(program, monkeypatch):
    order: list[str] = []
    monkeypatch.setattr("iostudy.cli.main.app", lambda **_: {}["x"])
    monkeypatch.setattr(
        "iostudy.cli.main._restore_open_transactions", lambda: order.append("restored")
    )
    monkeypatch.setattr("iostudy.cli.main.say", lambda _: order.append("reported"))
    assert program("settings").returncode == 70
    assert order == ["restored", "reported"]


@pytest.mark.all_plugins
def test_the_page_has_the_commands_of_the_help_in_their_order_and_its_exit_codes():
    text = PAGE.read_text(encoding="utf-8")
    commands = [command.name for command in all_commands()]
    assert re.findall(r"^\| `iostudy ([a-z-]+)", text, re.MULTILINE) == commands
    rows = re.findall(r"^\| (\d.*) \| (.*) \|$", text.replace("`", ""), re.MULTILINE)
    assert f"Exit codes: {', '.join(map(' '.join, rows))}." == EXIT_CODES


def test_the_page_and_the_help_have_every_command_with_its_summary_and_options():
    page = PAGE.read_text("utf-8")
    for command in all_commands():
        loaded = load(command)
        assert loaded.help.splitlines()[0] == command.summary
        row = rf"^\| `iostudy {command.name}(?![\w-]).*"
        (line,) = re.findall(row, page, re.MULTILINE)
        options = [
            max(parameter.opts, key=len)
            for parameter in loaded.params
            if parameter.param_type_name == "option"
        ]
        assert [option for option in options if option not in line] == [], command.name
