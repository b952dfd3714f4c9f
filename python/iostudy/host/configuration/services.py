"""Kernel values written by services: wanted units of systemd, rc.local, cron and sysfsutils.

Source: systemd.service(5), systemd.unit(5), systemd-rc-local-generator(8), crontab(5), sysfs.conf.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from iostudy.host.configuration.assignment import (
    PLACES,
    Assignment,
    Stage,
    common_path,
    content_lines,
    effective_files,
    host_path,
)
from iostudy.host.configuration.programs import program_writes, script_writes
from iostudy.host.files import Reader

_EXEC = re.compile(r"Exec(?:StartPre|Start|StartPost)\s*=\s*[-@:+!|]*(?P<command>.*)")
_ADMINISTRATOR = ("etc", "run")
_UNWANTED = "no link in *.wants or *.requires starts it at boot"
_SPECIFIER = re.compile(r"%[a-zA-Z]")
_STARTERS = (".service", ".timer", ".path", ".socket")
_SCRIPTS = (
    *("etc/rc.local", "etc/rc.d/rc.local", "etc/crontab"),
    *("etc/cron.d/*", "var/spool/cron/crontabs/*", "var/spool/cron/*"),
)
_SYSFS_FILES = ("etc/sysfs.conf", "etc/sysfs.d/*.conf")
_SYSFS = re.compile(r"(?P<path>[\w/.:!*-]+)\s*=\s*(?P<value>.*?)\s*")


def read_services(reader: Reader) -> Iterator[Assignment]:
    """Yield what units, scripts and tables of the boot write."""
    for file, is_wanted in _unit_files(reader.root):
        place = host_path(file, reader.root)
        for line in content_lines(reader.text(file) or "", comments="#;", continued=True):
            if match := _EXEC.fullmatch(line.text):
                found = Assignment(
                    *(place, line.first, line.last, "", "", line.text),
                    stage=Stage.SERVICE,
                    ineffective="" if is_wanted else _UNWANTED,
                )
                command = _SPECIFIER.sub("*", match["command"]).replace("$$", "$")
                yield from program_writes(reader, found, command, Path())
    for file in _globbed(reader.root, _SCRIPTS):
        yield from script_writes(reader, file, reader.text(file) or "", Stage.SERVICE)
    for file in _globbed(reader.root, _SYSFS_FILES):
        for line in content_lines(reader.text(file) or "", comments="#"):
            if match := _SYSFS.fullmatch(line.text):
                path = f"/sys/{match['path'].removeprefix('/sys/')}"
                place = host_path(file, reader.root)
                yield Assignment(
                    *(place, line.first, line.last, path, match["value"], line.text),
                    path=common_path(path, reader.root),
                    stage=Stage.SERVICE,
                )


def _unit_files(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yield services and their drop-ins, and whether another unit wants them by a link.

    Of the others only the administrator's count: something else may start them.
    """
    links = (root / place / "systemd/system" for place in PLACES)
    wanted = {
        link.name
        for folder in links
        for kind in ("wants", "requires")
        for link in folder.glob(f"*.{kind}/*")
    }
    started = {Path(name).stem for name in wanted if name.endswith(_STARTERS)}
    started |= {f"{stem.partition('@')[0]}@" for stem in started if "@" in stem}
    for file in effective_files(root, "systemd/system", ".service"):
        if file.stem in started or host_path(file, root).parts[1] in _ADMINISTRATOR:
            yield file, file.stem in started
    for stem in sorted(started):
        for file in effective_files(root, f"systemd/system/{stem}.service.d", ".conf"):
            yield file, True


def _globbed(root: Path, patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file()]
