"""Assignments and programs of udev rules.

A rule assigns at once, in the order of the lines; programs of RUN run after the last rule.
Source: udev(7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from iostudy.host.configuration.assignment import (
    Assignment,
    ConfigurationLine,
    Stage,
    common_path,
    content_lines,
    effective_files,
    host_path,
)
from iostudy.host.configuration.programs import program_writes
from iostudy.host.configuration.sysctl import sysctl_path
from iostudy.host.files import Reader

_UDEV = re.compile(
    r"(?<![A-Z_])(?P<key>ATTR|SYSFS|SYSCTL|RUN|PROGRAM|IMPORT)(?:\{(?P<attribute>[^}]*)\})?\s*"
    r'(?P<operator>\+=|:=|==|!=|=)\s*(?:e)?"(?P<value>(?:[^"\\]|\\.)*)"'
)
_KERNEL_NAME = re.compile(r'(?<![A-Z_])KERNEL\s*==\s*"([^"]*)"')
_OF_BLOCK = re.compile(r"(queue|bdi|device)/[\w/.-]+")
_OF_BDI = re.compile(r"read_ahead_kb|(min|max)_ratio")
_OF_ANY = re.compile(r"\[(?P<subsystem>\w+)/(?P<name>[^\]]+)\](?P<attribute>.+)")
"""An attribute of another device than that of the event."""
_SUBSTITUTED = (
    (re.compile(r"%p|\$devpath|(?:\$env|%E)\{DEVPATH\}"), "/devices/*"),
    (re.compile(r"%S|\$sys"), "/sys"),
    (re.compile(r"%N|\$devnode|\$tempnode|(?:\$env|%E)\{DEVNAME\}"), "/dev/*"),
    (re.compile(r"(?:\$(?:kernel|number|name|devnode|id|driver|major|minor|attr|env|result|links)"
                r"|%[kncbrPMmsE])(?:\{[^}]*\})?"), "*"),
)  # fmt: skip
_UDEV_PROGRAMS = Path("usr/lib/udev")
_OF_NFS = re.compile(r'PROGRAM\s*=+\s*"[\w/.-]*/nfsrahead ')
"""The program of nfs-utils fails unless the bdi device is that of an NFS mount: nfsrahead(5)."""
_CONDITIONS = ("==", "!=")


def _udev_path(match: re.Match[str], rule: str) -> str:
    """Return the kernel's file of an assignment; empty if it is neither a disk's nor a sysctl."""
    name = match["attribute"] or ""
    if match["key"] == "SYSCTL":
        return sysctl_path(name)
    if other := _OF_ANY.fullmatch(name):
        return "/sys/class/{subsystem}/{name}/{attribute}".format_map(other.groupdict())
    if _OF_BDI.fullmatch(name):
        kernel = _KERNEL_NAME.search(rule)
        device = kernel[1] if kernel else "0:*" if _OF_NFS.search(rule) else "*"
        return f"/sys/class/bdi/{device}/{name}"
    return f"/sys/block/*/{name}" if _OF_BLOCK.fullmatch(name) else ""


def read_udev(reader: Reader) -> Iterator[Assignment]:
    """Yield what rules and their programs write, in the order of the files."""
    for file in effective_files(reader.root, "udev/rules.d", ".rules"):
        for line in content_lines(reader.text(file) or "", comments="#", continued=True):
            for match in _UDEV.finditer(line.text):
                yield from _read_udev_key(reader, file, line, match)


def _read_udev_key(
    reader: Reader, file: Path, line: ConfigurationLine, match: re.Match[str]
) -> Iterator[Assignment]:
    place = (host_path(file, reader.root), line.first, line.last)
    name, value = match["attribute"] or "", match["value"]
    match match["key"]:
        case "RUN" | "PROGRAM" | "IMPORT" if name in ("", "program"):
            stage = Stage.UDEV_PROGRAM if match["key"] == "RUN" else Stage.UDEV
            for pattern, text in _SUBSTITUTED:
                value = pattern.sub(text, value)
            found = Assignment(*place, "", "", line.text, stage=stage)
            yield from program_writes(reader, found, value, _UDEV_PROGRAMS)
        case "ATTR" | "SYSFS" | "SYSCTL" if match["operator"] not in _CONDITIONS:
            path = _udev_path(match, line.text)
            stage = Stage.UDEV_PROGRAM if path.startswith("/sys/class/bdi/") else Stage.UDEV
            if path := common_path(path, reader.root):
                yield Assignment(*place, name, value, line.text, path=path, stage=stage)
