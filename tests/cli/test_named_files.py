"""Files that a command is to read and that never end: a clear error at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.safe_path import read_named
from tests.cli.program import Program

PLACES = ["fifo", "/dev/zero", "/dev/tty", "/proc/kmsg", "folder"]


@pytest.mark.root
@pytest.mark.child
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "command",
    [
        ("check", "{}"),
        ("run", "{}", "--out", "out"),
        ("simulate", "{}"),
        ("drives", "{}/x.yaml"),
        ("trace", "show", "{}"),
        ("fleet", "check", "--inventory", "{}"),
        ("bench", "fio", "-o", "job={}"),
        ("compare", "--fio", "{}", "{}"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_file_that_never_ends_is_refused_at_once(
    program: Program, command: tuple[str, ...], place: str
) -> None:
    os.mkfifo(program.folder / "fifo")
    (program.folder / "folder").mkdir()
    done = program(*(word.format(place) for word in command))
    assert done.returncode == 2, done.stderr
    assert place in done.stderr


@pytest.mark.child
def test_pipes_of_the_shell_are_files() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"question")
    os.close(writing)
    try:
        assert read_named(Path(f"/dev/fd/{reading}"), 100) == b"question"
        assert read_named(Path(f"/dev/fd/{reading}"), 100) == b""
    finally:
        os.close(reading)
