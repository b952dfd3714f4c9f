"""Text of a fio job file for fio to parse: overrides, included files, and unchecked directories.

fio refuses a job file whose directories are missing (options.c, str_directory_cb), and directories
of a study are made later. A description carries them, which fio expands but does not check.
Syntax: fio(1), "JOB FILE FORMAT".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from iostudy.safe_path import read_named
from iostudy.units import MIB

DIRECTORY = "directory"
CARRIER = ("description", f"iostudy-{DIRECTORY}=")
"""The parameter that carries a directory, and how its value begins."""

ENGINES = frozenset(
    (
        *("sync", "psync", "vsync", "pvsync", "pvsync2", "io_uring", "libaio", "posixaio"),
        *("mmap", "splice", "falloc", "ftruncate", "e4defrag", "cpuio", "null"),
        *("filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
    )
)
"""Those that work on files."""
OTHER_ENGINE = "does not work on files; take one of those that do"

_MAX_INCLUDES, _MOST_INCLUDED = 16, 256
"""Depth of includes, which is fio's, and included files in all."""
MOST_BYTES = MIB
_MOST_LINE_BYTES = 4094
"""fio before 3.15 takes the rest of a longer line for another line (parse.h, OPT_LEN_MAX)."""
_MOST_SHOWN = 100
_COMMENT = re.compile("[;#]")
_BLANKS = " \t\n\v\f\r"
"""Those of isspace(3) in the C locale."""
_HEADER = "["
_GLOBAL = "[global"
"""fio compares no more of a section's name (init.c, ``__parse_jobs_ini``)."""
_INCLUDE = "include"
"""fio includes a file by any line that begins so."""
_INCLUDED = re.compile(r"include[ \t]+(.+)")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PARAMETER = re.compile("[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def rewrite(text: str, folder: Path, override: Mapping[str, str]) -> list[str]:
    """Return the lines as fio obeys them: with included files, overrides and values of variables.

    Overrides stand at the end of every job, and carriers in place of directories. ``folder`` is
    that of the job file, from which its includes are found.
    """
    included = _with_includes(text, folder, _MAX_INCLUDES, iter(range(_MOST_INCLUDED)))
    lines = _overridden(included, override)
    return [_carried(_expanded(line)) for line in lines]


def find_refusals(lines: Iterable[str]) -> Iterator[str]:
    """Yield the rewritten lines that fio is not to parse, each with the reason.

    Even with ``--parse-only`` fio loads the library that an engine names, if a parameter is not
    one of all engines. It opens included files, and those that a pattern names.
    """
    for line in lines:
        if reason := _refusal(line):
            yield f"{line[:_MOST_SHOWN]} {reason}"


def _refusal(line: str) -> str:
    name, value = _name(line), line.partition("=")[2]
    if len(line.encode(errors="surrogatepass")) > _MOST_LINE_BYTES:
        return f"... is longer than the {_MOST_LINE_BYTES} bytes that every fio reads as one line"
    if _CONTROL.search(line):
        return "has a control character"
    if _COMMENT.search(line):
        return "has a variable with ; or #, which begin a comment"
    if _is_header(line):
        return ""
    if line.startswith(_INCLUDE):
        most = f"is at most {_MAX_INCLUDES} deep, and one of at most {_MOST_INCLUDED}"
        return f"includes no file that can be read, has no sections, {most}"
    if not _PARAMETER.fullmatch(name):
        return "is no parameter and no section"
    if name == "ioengine" and value not in ENGINES:
        return OTHER_ENGINE
    if "${" in value:
        return "has a variable within a variable, or one that does not end"
    if "'" in value and name.endswith("pattern"):
        return "takes a pattern from a file; write out its bytes"
    return ""


def count_parameters(lines: Iterable[str]) -> list[int]:
    """Return the number of parameters of each section."""
    counts: list[int] = []
    for line in lines:
        if _is_header(line):
            counts.append(0)
        else:
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
            is_job = not line.startswith(_GLOBAL)
        if _name(line) not in override:
            yield line
    yield from added if is_job else ()


def _carried(line: str) -> str:
    if _name(line) != DIRECTORY:
        return line
    parameter, prefix = CARRIER
    return f"{parameter}={prefix}{line.partition('=')[2].strip()}"


def _expanded(line: str) -> str:
    """Fill in variables, once and only in values, as fio does."""
    if _is_header(line) or line.startswith(_INCLUDE):
        return line
    name, equals, value = line.partition("=")
    return name + equals + _VARIABLE.sub(lambda match: os.environ.get(match[1], ""), value)


def _statements(text: str) -> list[str]:
    """Return the lines without comments and blanks around them."""
    stripped = (_COMMENT.split(line)[0].strip(_BLANKS) for line in text.split("\n"))
    return [line for line in stripped if line]


def _is_header(line: str) -> bool:
    return line.startswith(_HEADER)


def _name(line: str) -> str:
    return line.partition("=")[0].strip(_BLANKS)


def _with_includes(text: str, folder: Path, depth: int, left: Iterator[int]) -> Iterator[str]:
    """All lines, with those of included files; a line that includes no such file stays.

    ``left`` ends after the most files, as two lines that include their own file would never.
    """
    for line in _statements(text):
        named = _INCLUDED.fullmatch(line)
        path = folder / named[1] if named and depth else folder
        included = _read(path) if path.is_file() and next(left, None) is not None else None
        if included is None or any(map(_is_header, _statements(included))):
            yield line
        else:
            yield from _with_includes(included, path.parent, depth - 1, left)


def _read(path: Path) -> str | None:
    try:
        return read_named(path, MOST_BYTES).decode(errors="replace")
    except OSError:
        return None
