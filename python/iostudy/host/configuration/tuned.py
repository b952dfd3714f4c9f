"""Options of the active TuneD profiles that write kernel values.

A profile comes after those that it includes. Its sysctls are left out: TuneD writes those of
sysctl.d again after its own. Source: tuned.conf(5), tuned-main.conf(5) (reapply_sysctl), and the
plug-ins disk, vm, cpu and sysfs of TuneD 2.20.
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
    host_path,
)
from iostudy.host.files import Reader

_FOLDERS = ("etc/tuned/profiles", "etc/tuned", "usr/lib/tuned/profiles", "usr/lib/tuned")
_OPTION = re.compile(r"(?P<name>[^=\s]+)\s*=\s*(?P<value>[^#]*)")
_SECTION = re.compile(r"\[(?P<name>[^\]]+)\]")
_SECTORS = re.compile(r"(>?)\s*(\d+)\s+s")
_THP = "/sys/kernel/mm/transparent_hugepage"
_PATHS = {
    ("disk", "elevator"): "/sys/block/*/queue/scheduler",
    ("disk", "readahead"): "/sys/block/*/queue/read_ahead_kb",
    ("vm", "transparent_hugepages"): f"{_THP}/enabled",
    ("vm", "transparent_hugepage"): f"{_THP}/enabled",
    ("vm", "transparent_hugepage.defrag"): f"{_THP}/defrag",
    ("cpu", "governor"): "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
}


def read_tuned(reader: Reader) -> Iterator[Assignment]:
    """Yield what the active profiles write; ``>N`` raises a lower value, ``a|b`` is the first."""
    active = reader.text(reader.root / "etc/tuned/active_profile") or ""
    for file in dict.fromkeys(_profile_files(reader, active.split(), set())):
        for line, path, name, value in _options(reader.text(file) or ""):
            yield Assignment(
                *(host_path(file, reader.root), line.first, line.last, name, value, line.text),
                path=common_path(path, reader.root),
                stage=Stage.TUNED,
            )


def _profile_files(reader: Reader, names: list[str], loaded: set[str]) -> Iterator[Path]:
    for name in names:
        files = (reader.root / folder / name / "tuned.conf" for folder in _FOLDERS)
        file = next((file for file in files if file.is_file()), None)
        if file is None or name in loaded:
            continue
        loaded.add(name)
        text = reader.text(file) or ""
        for included in re.findall(r"^\s*include\s*=\s*(.*)$", text, re.MULTILINE):
            yield from _profile_files(reader, re.split(r"\s*[,;]\s*", included.strip()), loaded)
        yield file


def _options(text: str) -> Iterator[tuple[ConfigurationLine, str, str, str]]:
    """Yield the lines with their kernel file, name and value."""
    plugin = ""
    for line in content_lines(text, comments="#;"):
        if heading := _SECTION.fullmatch(line.text):
            plugin = heading["name"]
        elif option := _OPTION.fullmatch(line.text):
            name, value = option["name"], option["value"].strip()
            if name == "type":
                plugin = value
            path = name if plugin == "sysfs" else _PATHS.get((plugin, name), "")
            if path.startswith("/sys/"):
                kilobytes = _SECTORS.fullmatch(value)
                if kilobytes:
                    value = f"{kilobytes[1]}{int(kilobytes[2]) // 2}"
                yield line, path, name, "*" if "${" in value else value.replace("> ", ">")
