"""One value that a file sets, when it is set, and whose it is.

Of two writers of one value the one that runs later wins. A file in /etc hides one of the same name
in /run, and that one those below /usr and /lib; what counts is read in the order of the names.
Source: bootup(7), sysctl.d(5), udev(7), tmpfiles.d(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from pathlib import Path

PLACES = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
_HIDING = re.compile(
    r"/(?:run|(?:usr/(?:local/)?)?lib)/((?:sysctl|tmpfiles|udev/rules|systemd/system)[./].*)"
)
"""Files that one of the same name in /etc hides."""
BYTE_ORDER_MARK = "\ufeff"
MARKED = "systemd 252 takes the byte order mark before it for a part of the name"
"""Reason why the first line of a file with a byte order mark has no effect."""
_QUEUE = re.compile(r"/sys/(?:.*/)?(?P<device>[^/]+)/(?:queue/(?P<attribute>.+)|bdi/read_ahead_kb)")
_BDI = re.compile(r"/sys/(?:.*/)?bdi/(?P<device>[^/]+)/read_ahead_kb")


class Stage(IntEnum):
    """When a writer runs at boot.

    Programs of RUN run after all rules of their event. Rules about ``bdi`` devices count as such:
    their events and those of the disks have no order. TuneD is a service that writes again later.
    """

    SYSCTL = 1
    UDEV = 2
    UDEV_PROGRAM = 3
    TMPFILES = 4
    SERVICE = 5
    TUNED = 6

    @property
    def label(self) -> str:
        """Return what writes at this stage, for a person."""
        return _STAGE_LABELS[self]


_STAGE_LABELS = {
    Stage.SYSCTL: "systemd-sysctl",
    Stage.UDEV: "a rule of udev",
    Stage.UDEV_PROGRAM: "a program or bdi rule of udev",
    Stage.TMPFILES: "systemd-tmpfiles",
    Stage.SERVICE: "a service",
    Stage.TUNED: "TuneD",
}


@dataclass(frozen=True)
class Assignment:
    """A value that a file sets.

    ``first`` and ``last`` are its line numbers, from 1; ``text`` is the content of these lines.
    ``name`` is what the file calls it: a sysctl key, a udev attribute or a path. ``path`` is the
    kernel's file, in a form that all writers of one value share; it may be a pattern. ``cancels``:
    the line has no value, and takes earlier ones of its key back. ``ineffective`` is the reason why
    nothing may obey the line at boot.
    """

    file: Path
    first: int
    last: int
    name: str
    value: str
    text: str
    path: str = ""
    stage: Stage = Stage.SYSCTL
    cancels: bool = False
    ineffective: str = ""

    @property
    def where(self) -> str:
        """The file and line, as compilers and editors write it."""
        return f"{self.file}:{self.first}"

    @property
    def device(self) -> str | None:
        """Return the kernel name of the disk, or a pattern; None if it is no disk's value."""
        parts = self.path.split("/")
        return parts[3] if parts[:3] == ["", "sys", "block"] else None

    def writes(self, path: str) -> bool:
        """Whether the line concerns that file, or one of these; either may be a pattern."""
        same = path == self.path
        return same or matches_path(path, self.path) or matches_path(self.path, path)


@dataclass(frozen=True)
class ConfigurationLine:
    """A line of a file with those that continue it; ``first`` and ``last`` count from 1."""

    first: int
    last: int
    text: str


def matches_path(path: str, pattern: str) -> bool:
    """Whether a path is one of a pattern, of which no part matches a slash (glob(7))."""
    names, patterns = path.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))


def override_path(file: Path) -> Path:
    """Return the file in /etc that hides a packaged one; the file itself if there is none."""
    hidden = _HIDING.fullmatch(str(file))
    return Path("/etc", hidden[1]) if hidden else file


def common_path(path: str, root: Path) -> str:
    """Return the form of a path that all writers of its value share.

    A disk's read-ahead is an attribute of its queue and of its bdi device, and a disk is found by
    its name, by its number and by the place of its hardware.
    """
    match = _BDI.fullmatch(path) or _QUEUE.fullmatch(path)
    if not match:
        return path
    device = match["device"]
    node = root / "sys/dev/block" / device
    name = node.resolve().name if ":" in device and node.exists() else device
    attribute = match.groupdict().get("attribute") or "read_ahead_kb"
    return f"/sys/block/{name}/queue/{attribute}"


def host_path(file: Path, root: Path) -> Path:
    """Return the path on the host, also for a recorded tree."""
    return Path("/") / file.relative_to(root)


def effective_files(root: Path, folder: str, ending: str) -> list[Path]:
    """Return the effective files in the order of their names; earlier folders mask later ones."""
    files: dict[str, Path] = {}
    for place in PLACES:
        for path in sorted((root / place / folder).glob(f"*{ending}")):
            files.setdefault(path.name, path)
    return [files[name] for name in sorted(files)]


def content_lines(
    text: str, comments: str, *, continued: bool = False
) -> Iterator[ConfigurationLine]:
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
