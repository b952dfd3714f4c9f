"""Text of a fio job file: overrides and placeholders for directories, before fio parses it.

fio refuses a job file whose directories are missing (options.c, str_directory_cb). Directories of a
study are made later, so existing placeholders take their place. Syntax: fio(1), "JOB FILE FORMAT".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_DIRECTORY = "directory"
_MAX_INCLUDES = 16
_COMMENT = re.compile("[;#]")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_LIST = re.compile(r"(?<!\\):")
_ALIASES = (
    ("rw", "readwrite"),
    ("bs", "blocksize"),
    ("bsrange", "blocksize_range"),
    ("ba", "blockalign"),
    ("io_size", "io_limit"),
    ("fill_device", "fill_fs"),
    ("offset", "fileoffset"),
    ("nrfiles", "nr_files"),
    ("runtime", "timeout"),
    ("mem", "iomem"),
    ("stonewall", "wait_for_previous"),
    ("iodepth_batch", "iodepth_batch_submit"),
)
"""Two names of one parameter (options.c, ``alias``)."""


def same_parameter(name: str) -> frozenset[str]:
    """All names of the parameter."""
    return next((frozenset(pair) for pair in _ALIASES if name in pair), frozenset({name}))


@dataclass(frozen=True)
class JobText:
    """A text for fio to parse, and the directories that its placeholders stand for, in order."""

    text: str
    directories: tuple[str, ...]


def rewrite(text: str, folder: Path, override: Mapping[str, str], placeholders: Path) -> JobText:
    """Put overrides into every job, and placeholders in place of directories.

    ``folder`` is that of the job file, from which its includes are found. Number N of the
    directories is ``placeholders/N``.
    """
    lines = _with_includes(text.splitlines(), folder, _MAX_INCLUDES)
    directories: list[str] = []
    rewritten = [
        _placeholder(line, directories, placeholders) if _name(line) == _DIRECTORY else line
        for line in _overridden(lines, override)
    ]
    return JobText("\n".join(rewritten) + "\n", tuple(directories))


def _overridden(lines: Iterable[str], override: Mapping[str, str]) -> Iterator[str]:
    """The lines without what is overridden, and the overrides at the end of each job.

    A name in [global] is left out: on a command line, a name begins a job.
    """
    replaced = frozenset[str]().union(*map(same_parameter, override))
    added = [f"{name}={value}" for name, value in override.items()]
    is_job = False
    for line in lines:
        if _statement(line).startswith("["):
            yield from added if is_job else ()
            is_job = not _statement(line).startswith("[global]")
        if _name(line) not in replaced and (is_job or _name(line) != "name"):
            yield line
    yield from added if is_job else ()


def _statement(line: str) -> str:
    return _COMMENT.split(line)[0].strip()


def _name(line: str) -> str:
    return _statement(line).partition("=")[0].strip()


def _with_includes(lines: list[str], folder: Path, depth: int) -> Iterator[str]:
    """All lines, with those of included files; fio reports a file that cannot be read."""
    for line in lines:
        keyword, _, path = _statement(line).partition(" ")
        included = folder / path.strip()
        if keyword == "include" and depth and included.is_file():
            text = included.read_text(errors="replace")
            yield from _with_includes(text.splitlines(), included.parent, depth - 1)
        else:
            yield line


def _placeholder(line: str, directories: list[str], placeholders: Path) -> str:
    """The line with a placeholder for each directory of its list; a colon separates them."""
    value = _statement(line).partition("=")[2]
    found = _VARIABLE.sub(lambda match: os.environ.get(match[1], ""), value)
    numbers = []
    for part in (each.strip().replace("\\:", ":") for each in _LIST.split(found)):
        if not part:
            return line
        if part not in directories:
            directories.append(part)
        numbers.append(directories.index(part))
    return f"{_DIRECTORY}=" + ":".join(str(placeholders / str(number)) for number in numbers)
