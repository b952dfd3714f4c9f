"""Settings in configuration files: sysctl.d, udev rules and tmpfiles.d.

Source: sysctl.d(5), sysctl.conf(5), udev(7), tmpfiles.d(5). A file in /etc hides one of the same
name in /run, and that one those below /usr and /lib; what counts is read in the order of the names.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.reader import Reader

_PLACES = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
_UDEV = re.compile(
    r"(?<![A-Z_])(?:ATTR|SYSFS)\{(?P<attribute>[^}]*)\}\s*(?:\+=|:=|=(?!=))\s*"
    r'(?:e)?"(?P<value>(?:[^"\\]|\\.)*)"'
)
_OF_BLOCK = re.compile(r"(queue|bdi|device)/[\w/.-]+")
_SYSCTL = re.compile(r"-?\s*(?P<key>[^\s=]+)\s*=\s*(?P<value>.*?)\s*")
_TMPFILES_WRITE = re.compile(r"w[+!\-=~^$]*")


@dataclass(frozen=True)
class Assignment:
    """A value that a file sets: ``name`` is a sysctl key, a udev attribute or a path below /sys.

    ``first`` and ``last`` are its line numbers, from 1; ``text`` is the content of these lines.
    """

    file: Path
    first: int
    last: int
    name: str
    value: str
    text: str

    @property
    def where(self) -> str:
        """The file and line, as compilers and editors write it."""
        return f"{self.file}:{self.first}"


@dataclass(frozen=True)
class ConfigurationLine:
    """A line of a file with those that continue it; ``first`` and ``last`` count from 1."""

    first: int
    last: int
    text: str


def parse_sysctl(text: str) -> Iterator[tuple[ConfigurationLine, str, str]]:
    """Return every ``key = value``, with dots between the key's parts.

    A key may use slashes; if its first separator is one, dots are parts of names.
    """
    for line in _lines(text, comments="#;"):
        match = _SYSCTL.fullmatch(line.text)
        if match:
            yield line, dotted(match["key"]), match["value"]


def dotted(key: str) -> str:
    """``net/ipv4/conf/eth0.1/x`` -> ``net.ipv4.conf.eth0/1.x``; a key with dots stays."""
    separators = re.search(r"[./]", key)
    if separators and separators[0] == "/":
        return key.translate(str.maketrans("./", "/."))
    return key


def parse_udev_rules(text: str) -> Iterator[tuple[ConfigurationLine, str, str]]:
    """Return every assignment to an attribute of a block device's queue, bdi or device."""
    for line in _lines(text, comments="#", continued=True):
        for match in _UDEV.finditer(line.text):
            if _OF_BLOCK.fullmatch(match["attribute"]):
                yield line, match["attribute"], match["value"]


def parse_tmpfiles(text: str) -> Iterator[tuple[ConfigurationLine, str, str]]:
    """Return every line that writes (``w``) to a path below /sys or /proc."""
    for line in _lines(text, comments="#"):
        fields = line.text.split(None, 6)
        if len(fields) == 7 and _TMPFILES_WRITE.fullmatch(fields[0]):
            path = _unquoted(fields[1])
            if path.startswith(("/sys/", "/proc/")):
                yield line, path, fields[6]


def read_sysctl(reader: Reader) -> tuple[Assignment, ...]:
    """Return the values of sysctl.d, then those of /etc/sysctl.conf, which procps reads last."""
    files = [*_files(reader.root, "sysctl.d", ".conf"), reader.root / "etc/sysctl.conf"]
    return _read(reader, _each_once(files), parse_sysctl)


def read_udev_rules(reader: Reader) -> tuple[Assignment, ...]:
    """Return the values that udev rules write to block devices."""
    return _read(reader, _files(reader.root, "udev/rules.d", ".rules"), parse_udev_rules)


def read_tmpfiles(reader: Reader) -> tuple[Assignment, ...]:
    """Return the values that systemd-tmpfiles writes to sysfs and /proc/sys."""
    return _read(reader, _files(reader.root, "tmpfiles.d", ".conf"), parse_tmpfiles)


Parser = Callable[[str], Iterator[tuple[ConfigurationLine, str, str]]]


def _read(reader: Reader, files: list[Path], parse: Parser) -> tuple[Assignment, ...]:
    return tuple(
        Assignment(_host_path(file, reader.root), line.first, line.last, name, value, line.text)
        for file in files
        for line, name, value in parse(reader.text(file) or "")
    )


def _host_path(file: Path, root: Path) -> Path:
    """Return the path on the host, also for a recorded tree."""
    return Path("/") / file.relative_to(root)


def _files(root: Path, folder: str, ending: str) -> list[Path]:
    """Return the effective files in the order of their names; earlier folders mask later ones."""
    found: dict[str, Path] = {}
    for place in _PLACES:
        for path in sorted((root / place / folder).glob(f"*{ending}")):
            found.setdefault(path.name, path)
    return [found[name] for name in sorted(found)]


def _each_once(files: list[Path]) -> list[Path]:
    """Debian links 99-sysctl.conf to sysctl.conf; it is one file."""
    return list({os.path.realpath(file): file for file in files}.values())


def _lines(text: str, comments: str, *, continued: bool = False) -> Iterator[ConfigurationLine]:
    """Return the lines with content; with ``continued``, a trailing backslash joins lines."""
    first = 1
    parts: list[str] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        if not parts:
            first = number
        goes_on = continued and raw.endswith("\\")
        parts.append(raw.removesuffix("\\") if goes_on else raw)
        if goes_on:
            continue
        whole, parts = "".join(parts).strip(), []
        if whole and whole[0] not in comments:
            yield ConfigurationLine(first, number, whole)


def _unquoted(field: str) -> str:
    try:
        return "".join(shlex.split(field))
    except ValueError:
        return field
