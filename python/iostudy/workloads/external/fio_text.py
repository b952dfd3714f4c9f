"""Text of a fio job file for fio to parse: overrides, included files, and unchecked directories.

fio refuses a job file whose directories are missing (options.c, str_directory_cb), and directories
of a study are made later. A description carries them, which fio expands but does not check.
Syntax: fio(1), "JOB FILE FORMAT".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from iostudy.safe_path import read_named
from iostudy.units import MIB

DIRECTORY = "directory"
CARRIER = ("description", f"iostudy-{DIRECTORY}=")
"""The parameter that carries a directory, and how its value begins."""

_MAX_INCLUDES = 16
MOST_BYTES = MIB
_COMMENT = re.compile("[;#]")
_HEADER = "["
_GLOBAL = "[global"
"""fio compares no more of a section's name (init.c, ``__parse_jobs_ini``)."""


def rewrite(text: str, folder: Path, override: Mapping[str, str]) -> str:
    """Put overrides at the end of every job, and carriers in place of directories.

    ``folder`` is that of the job file, from which its includes are found.
    """
    lines = _with_includes(text.split("\n"), folder, _MAX_INCLUDES)
    return "".join(f"{_carried(line)}\n" for line in _overridden(lines, override))


def count_parameters(text: str) -> list[int]:
    """Return the number of parameters of each section."""
    counts: list[int] = []
    for line in text.split("\n"):
        if _is_header(line):
            counts.append(0)
        elif _statement(line):
            counts[-1] += 1
    return counts


def is_global(section: str) -> bool:
    """Whether the parameters of this section hold for the jobs after it."""
    return f"{_HEADER}{section}".startswith(_GLOBAL)


def _overridden(lines: Iterable[str], override: Mapping[str, str]) -> Iterator[str]:
    """Leave out what is overridden by the same name: fio may reject it. It obeys the last line."""
    added = [f"{name}={value}" for name, value in override.items()]
    is_job = False
    for line in lines:
        if _is_header(line):
            yield from added if is_job else ()
            is_job = not _statement(line).startswith(_GLOBAL)
        if _name(line) not in override:
            yield line
    yield from added if is_job else ()


def _carried(line: str) -> str:
    if _name(line) != DIRECTORY:
        return line
    parameter, prefix = CARRIER
    return f"{parameter}={prefix}{line.partition('=')[2].strip()}"


def _statement(line: str) -> str:
    return _COMMENT.split(line)[0].strip()


def _is_header(line: str) -> bool:
    return _statement(line).startswith(_HEADER)


def _name(line: str) -> str:
    return _statement(line).partition("=")[0].strip()


def _with_includes(lines: list[str], folder: Path, depth: int) -> Iterator[str]:
    """All lines, with those of included files; fio reports one that is missing or has sections."""
    for line in lines:
        keyword, _, path = _statement(line).partition(" ")
        included = folder / path.strip()
        if keyword == "include" and depth and included.is_file():
            included_lines = read_named(included, MOST_BYTES).decode(errors="replace").split("\n")
            if not any(map(_is_header, included_lines)):
                yield from _with_includes(included_lines, included.parent, depth - 1)
                continue
        yield line
