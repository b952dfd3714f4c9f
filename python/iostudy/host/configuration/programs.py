"""Writes of the commands and scripts that a rule, unit or table starts, as far as they show.

Commands and scripts write by `echo`, `printf` and `tee` with a path below /sys or /proc/sys, and
`blockdev`, `hdparm` and `sysctl`. A path or value that the shell computes is a pattern: ``*``
stands for its unknown part. What other programs write is not in the text, and is not found.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iostudy.host.configuration.assignment import Assignment, Stage, common_path, host_path
from iostudy.host.files import Reader

_INTERPRETED = b"#!"


def program_writes(
    reader: Reader, assignment: Assignment, command: str, folder: Path
) -> Iterator[Assignment]:
    """Yield what a command writes, and what the scripts write that it names."""
    for write in find_shell_writes(command):
        yield _with_write(assignment, write, reader.root)
    for word in re.findall(r"[^\s\"';|&]+", command):
        if word[0] == "/" or folder.parts:
            script = reader.root / (word.lstrip("/") if word[0] == "/" else folder / word)
            yield from script_writes(reader, script, _read_script(reader, script), assignment.stage)


def script_writes(reader: Reader, file: Path, text: str, stage: Stage) -> Iterator[Assignment]:
    """Yield what a script writes, at its own lines."""
    for write in find_shell_writes(text):
        number = text.count("\n", 0, write.offset)
        path = host_path(file, reader.root)
        line = text.split("\n")[number].strip()
        assignment = Assignment(path, number + 1, number + 1, "", "", line, stage=stage)
        yield _with_write(assignment, write, reader.root)


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


def _with_write(assignment: Assignment, write: ShellWrite, root: Path) -> Assignment:
    path = common_path(write.path, root)
    return replace(assignment, name=write.path, value=write.value, path=path)


_WORD = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"';|&<>()]+)"""
_ARGUMENTS = r"""[^;|&\n"'()]*"""
_REDIRECTED = re.compile(
    rf"\b(?:echo(?:\s+-[neE]+)*|printf(?:\s+['\"]?%s(?:\\n)?['\"]?)?)\s+(?P<value>{_WORD})\s*"
    rf"(?:>>?\s*|\|\s*(?:sudo\s+)?(?:\S*/)?tee\s+(?:-a\s+)?)(?P<path>{_WORD})"
)
_READ_AHEAD = re.compile(
    rf"\b(?:blockdev\b{_ARGUMENTS}--setra|hdparm\b{_ARGUMENTS}\s-a)\s*(?P<sectors>{_WORD})"
    rf"(?P<devices>{_ARGUMENTS})"
)
_SYSCTL = re.compile(r"\bsysctl\b(?P<words>[^;|&\n()]*)")
_ASSIGNED = re.compile(
    rf"\bfor\s+(?P<each>\w+)\s+in\s+(?P<words>[^;\n]+)|(?<!\S)(?P<name>\w+)=(?P<value>{_WORD})"
)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_COMPUTED = re.compile(r"\$\{[^}]*\}|\$\w+|\$\S|\*+")
_COMMAND = re.compile(r"\$\([^()\n]*\)|`[^`\n]*`")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_KERNEL = ("/sys/", "/proc/sys/")
_SECTORS_PER_KB = 2

Variables = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class ShellWrite:
    """A value written to a kernel file: ``path`` may be a pattern; ``offset`` is in the text."""

    offset: int
    path: str
    value: str


def find_shell_writes(text: str) -> Iterator[ShellWrite]:
    """Yield the writes in the order of their kinds; every offset is that of the command."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), text).replace('\\"', ' "')
    text = _COMMAND.sub(lambda match: "*" * len(match[0]), text)
    variables = _read_variables(text)
    for match in _REDIRECTED.finditer(text):
        for path in _expand(match["path"], variables):
            if path.startswith(_KERNEL):
                yield ShellWrite(match.start(), path, _expand(match["value"], variables)[0])
    for match in _READ_AHEAD.finditer(text):
        sectors = _expand(match["sectors"], variables)[0]
        kilobytes = str(int(sectors) // _SECTORS_PER_KB) if sectors.isdecimal() else "*"
        for name in _device_names(match["devices"], variables):
            yield ShellWrite(match.start(), f"/sys/block/{name}/queue/read_ahead_kb", kilobytes)
    for match in _SYSCTL.finditer(text):
        words = (word[0].strip("\"'") for word in re.finditer(_WORD, match["words"]))
        for key, equals, value in (word.partition("=") for word in words):
            if equals and key:
                path = f"/proc/sys/{key.strip().replace('.', '/')}"
                yield ShellWrite(match.start(), path, _expand(value.strip(), variables)[0])


def _read_variables(text: str) -> Variables:
    values: dict[str, list[str]] = {}
    for match in _ASSIGNED.finditer(text):
        if match["each"]:
            values.setdefault(match["each"], []).extend(match["words"].split())
        else:
            values.setdefault(match["name"], []).append(match["value"])
    return values


def _expand(word: str, variables: Variables, depth: int = 3) -> list[str]:
    """Return the word with the values of its variables; ``*`` for what the text does not say."""
    word = word.strip("\"' ")
    match = _VARIABLE.search(word)
    values = variables.get(match[1]) if match else None
    if match is None or not values or not depth:
        return [_COMPUTED.sub("*", word)]
    start, end = word[: match.start()], word[match.end() :]
    return [
        text
        for value in values
        for text in _expand(start + value.strip("\"'") + end, variables, depth - 1)
    ]


def _device_names(words: str, variables: Variables) -> Iterator[str]:
    """Yield kernel names; a link in /dev stands for an unknown one."""
    for word in words.split():
        for path in _expand(word, variables):
            folder, _, name = path.rpartition("/")
            if folder.startswith("/dev"):
                yield name if folder == "/dev" else "*"
