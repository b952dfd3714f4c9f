"""Every file that an option names is written by `OutputFile`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iostudy.cli.commands import all_commands, load
from iostudy.output_file import OutputFile
from tests.cli.program import Program
from tests.stranger import STRANGER

OTHER_PATHS = {
    "read": {
        "report.folder", "compare.first", "compare.second", "fleet.report.folders",
        "fleet.check.inventory", "fleet.run.inventory", "persist.folder", "mount.uri",
        "trace.show.file", "drives.name", "drive.up.name", "drive.down.devices",
        "fleet.serve.folder", "list.folder",
    },
    "a folder that `make_output_folder` makes or `require_safe_folder` checks": {
        "check.out", "power.out", "run.out", "simulate.out", "report.figures", "fleet.run.out",
        "persist.out",
        "selftest.target", "selftest.out", "drive.measure.out", "fleet.run.work",
        "hadoop.up.data_dir", "hadoop.up.name_dir", "bench.target", "mount.directory",
        "clean.folder", "try.on", "try.out", "report-study.out",
    },
}  # fmt: skip
"""Parameters with a path that is no file to write. A new one belongs here, or is an OutputFile."""
LINES = {
    "init.file": ("init", "{file}", "--target", ".", "--workload", "io"),
    "run.junit": ("run", "record-size", "--junit", "{file}"),
    "run.summary": ("run", "record-size", "--summary", "{file}"),
    "compare.junit": ("compare", "a", "b", "--junit", "{file}"),
    "compare.summary": ("compare", "a", "b", "--summary", "{file}"),
    "trace.record.out": ("trace", "record", "--duration", "1s", "--out", "{file}"),
}
"""A command line for each file to write."""


def parameters() -> Iterator[tuple[str, Any]]:
    """Every parameter of every command by ``command.name``."""
    for entry in all_commands():
        loaded = load(entry)
        group = getattr(loaded, "commands", None)
        for name, command in (group or {"": loaded}).items():
            where = ".".join(filter(None, (entry.name, name)))
            yield from ((f"{where}.{each.name}", each) for each in command.params)


@pytest.mark.all_plugins
def test_every_option_with_a_path_is_an_output_file_or_is_listed() -> None:
    written, paths = set(), set()
    for name, parameter in parameters():
        annotation = parameter.type_descriptor.annotation
        if annotation is OutputFile:
            written.add(name)
        elif "Path" in str(annotation) or any(
            word in (parameter.metavar or "") for word in ("FILE", "DIR", "FOLDER")
        ):
            paths.add(name)
    assert written == set(LINES)
    assert paths == set.union(*OTHER_PATHS.values())


@pytest.mark.root
@pytest.mark.parametrize("name", LINES)
def test_a_link_in_another_users_folder_is_refused(name: str, program: Program) -> None:
    home, secret = program.folder / "home", program.folder / "secret"
    secret.write_text("kept")
    home.mkdir()
    os.chown(home, STRANGER, STRANGER)
    (home / "file").symlink_to(secret)
    line = [word.format(file=home / "file") for word in LINES[name]]
    checked = program(*line)
    waived = program(*line, "--unsafe-folders")
    assert (checked.returncode, waived.returncode) == (2, 2)
    assert "belongs to user" in checked.stderr
    assert "regular" in waived.stderr or "a new file" in waived.stderr
    assert secret.read_text() == "kept"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_the_standard_output_is_no_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = os.lstat("/dev/stdout")
    file = OutputFile(name)
    file.require_safe(insist=False)
    file.write(b"whole\n")
    file.append("more\n")
    assert capsys.readouterr().out == "whole\nmore\n"
    assert os.lstat("/dev/stdout") == before


def test_text_is_appended_and_replaced(tmp_path: Path) -> None:
    file = OutputFile(str(tmp_path / "file"))
    file.append("a")
    file.append("b")
    assert file.path.read_text() == "ab"
    file.write(b"c")
    assert file.path.read_text() == "c"
