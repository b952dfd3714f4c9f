"""Writes of the commands and scripts that a rule, unit or table starts, as far as they show."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from iostudy.host.configuration.assignment import Assignment, Stage, common_path, host_path
from iostudy.host.configuration.shell_writes import ShellWrite, find_shell_writes
from iostudy.host.reader import Reader

_INTERPRETED = b"#!"


def program_writes(
    reader: Reader, found: Assignment, command: str, folder: Path
) -> Iterator[Assignment]:
    """Yield what a command writes, and what the scripts write that it names."""
    for write in find_shell_writes(command):
        yield _with_write(found, write, reader.root)
    for word in re.findall(r"[^\s\"';|&]+", command):
        if word[0] == "/" or folder.parts:
            script = reader.root / (word.lstrip("/") if word[0] == "/" else folder / word)
            yield from script_writes(reader, script, _read_script(reader, script), found.stage)


def script_writes(reader: Reader, file: Path, text: str, stage: Stage) -> Iterator[Assignment]:
    """Yield what a script writes, at its own lines."""
    for write in find_shell_writes(text):
        number = text.count("\n", 0, write.offset)
        place = host_path(file, reader.root)
        line = text.split("\n")[number].strip()
        found = Assignment(place, number + 1, number + 1, "", "", line, stage=stage)
        yield _with_write(found, write, reader.root)


def _read_script(reader: Reader, file: Path) -> str:
    """Return the text of a script; empty for a word that is none."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            is_script = opened.read(len(_INTERPRETED)) == _INTERPRETED
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            reader.refuse(file, error)
        return ""
    return (reader.text(file) or "") if is_script else ""


def _with_write(found: Assignment, write: ShellWrite, root: Path) -> Assignment:
    path = common_path(write.path, root)
    return replace(found, name=write.path, value=write.value, path=path)
