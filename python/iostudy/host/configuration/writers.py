"""All writers of kernel values, in the order in which they run at boot.

Of sysctl.d and sysctl.conf a later line replaces an earlier one of the same key, and a key its
patterns, in whichever file either stands. Source: sysctl.d(5), sysctl.conf(5), and the behaviour of
systemd 252.

A udev rule assigns at once, in the order of the lines; programs of RUN run after the last rule.
Source: udev(7).

Of several lines of tmpfiles.d for a path the first is taken. Source: tmpfiles.d(5), and the
behaviour of systemd 252.

Services are wanted units of systemd, rc.local, cron and sysfsutils. Source: systemd.service(5),
systemd.unit(5), systemd-rc-local-generator(8), crontab(5), sysfs.conf.

A TuneD profile comes after those that it includes. Its sysctls are left out: TuneD writes those of
sysctl.d again after its own. Source: tuned.conf(5), tuned-main.conf(5) (reapply_sysctl), and the
plug-ins disk, vm, cpu and sysfs of TuneD 2.20.
"""

from __future__ import annotations

import os
import re
import shlex
from base64 import b64decode
from binascii import Error
from collections.abc import Iterable, Iterator
from pathlib import Path

from iostudy.host.configuration.assignment import (
    BYTE_ORDER_MARK,
    MARKED,
    PLACES,
    Assignment,
    ConfigurationLine,
    Stage,
    common_path,
    content_lines,
    effective_files,
    host_path,
)
from iostudy.host.configuration.programs import program_writes, script_writes
from iostudy.host.files import Reader

_TUNED_FOLDERS = ("etc/tuned/profiles", "etc/tuned", "usr/lib/tuned/profiles", "usr/lib/tuned")
_TUNED_OPTION = re.compile(r"(?P<name>[^=\s]+)\s*=\s*(?P<value>[^#]*)")
_TUNED_SECTION = re.compile(r"\[(?P<name>[^\]]+)\]")
_TUNED_SECTORS = re.compile(r"(>?)\s*(\d+)\s+s")
_THP = "/sys/kernel/mm/transparent_hugepage"
_TUNED_PATHS = {
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
        for line, path, name, value in _tuned_options(reader.text(file) or ""):
            yield Assignment(
                *(host_path(file, reader.root), line.first, line.last, name, value, line.text),
                path=common_path(path, reader.root),
                stage=Stage.TUNED,
            )


def _profile_files(reader: Reader, names: list[str], loaded: set[str]) -> Iterator[Path]:
    for name in names:
        files = (reader.root / folder / name / "tuned.conf" for folder in _TUNED_FOLDERS)
        file = next((file for file in files if file.is_file()), None)
        if file is None or name in loaded:
            continue
        loaded.add(name)
        text = reader.text(file) or ""
        for included in re.findall(r"^\s*include\s*=\s*(.*)$", text, re.MULTILINE):
            yield from _profile_files(reader, re.split(r"\s*[,;]\s*", included.strip()), loaded)
        yield file


def _tuned_options(text: str) -> Iterator[tuple[ConfigurationLine, str, str, str]]:
    """Yield the lines with their kernel file, name and value."""
    plugin = ""
    for line in content_lines(text, comments="#;"):
        if heading := _TUNED_SECTION.fullmatch(line.text):
            plugin = heading["name"]
        elif option := _TUNED_OPTION.fullmatch(line.text):
            name, value = option["name"], option["value"].strip()
            if name == "type":
                plugin = value
            path = name if plugin == "sysfs" else _TUNED_PATHS.get((plugin, name), "")
            if path.startswith("/sys/"):
                kilobytes = _TUNED_SECTORS.fullmatch(value)
                if kilobytes:
                    value = f"{kilobytes[1]}{int(kilobytes[2]) // 2}"
                yield line, path, name, "*" if "${" in value else value.replace("> ", ">")


_UNIT_EXEC = re.compile(r"Exec(?:StartPre|Start|StartPost)\s*=\s*[-@:+!|]*(?P<command>.*)")
_ADMINISTRATOR = ("etc", "run")
_UNWANTED = "no link in *.wants or *.requires starts it at boot"
_SPECIFIER = re.compile(r"%[a-zA-Z]")
_UNIT_SUFFIXES = (".service", ".timer", ".path", ".socket")
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
            if match := _UNIT_EXEC.fullmatch(line.text):
                assignment = Assignment(
                    *(place, line.first, line.last, "", "", line.text),
                    stage=Stage.SERVICE,
                    ineffective="" if is_wanted else _UNWANTED,
                )
                command = _SPECIFIER.sub("*", match["command"]).replace("$$", "$")
                yield from program_writes(reader, assignment, command, Path())
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
    started = {Path(name).stem for name in wanted if name.endswith(_UNIT_SUFFIXES)}
    started |= {f"{stem.partition('@')[0]}@" for stem in started if "@" in stem}
    for file in effective_files(root, "systemd/system", ".service"):
        if file.stem in started or host_path(file, root).parts[1] in _ADMINISTRATOR:
            yield file, file.stem in started
    for stem in sorted(started):
        for file in effective_files(root, f"systemd/system/{stem}.service.d", ".conf"):
            yield file, True


def _globbed(root: Path, patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file()]


_TMPFILES_WRITE = re.compile(r"(?:w|f\+|F)(?P<modifiers>[+!\-=~^$]*)")


def parse_tmpfiles(text: str) -> Iterator[tuple[ConfigurationLine, str, str]]:
    """Return every line that writes to a path below /sys or /proc.

    ``f`` writes only to a new file. A value from a credential (``^``) is unknown.
    """
    for line in content_lines(text, comments="#"):
        fields = line.text.removeprefix(BYTE_ORDER_MARK).split(None, 6)
        written = _TMPFILES_WRITE.fullmatch(fields[0])
        if len(fields) == 7 and written:
            path = _unquoted_field(fields[1])
            if path.startswith(("/sys/", "/proc/")):
                yield line, path, _tmpfiles_argument(fields[6], written["modifiers"])


def _tmpfiles_argument(text: str, modifiers: str) -> str:
    if "^" in modifiers:
        return "*"
    if "~" in modifiers:
        try:
            return b64decode(text, validate=True).decode()
        except (Error, UnicodeDecodeError):
            return text
    return text.removesuffix("\\n")


def read_tmpfiles(reader: Reader) -> Iterator[Assignment]:
    """Yield the lines that write, in the order of the files."""
    for file in effective_files(reader.root, "tmpfiles.d", ".conf"):
        for line, path, value in parse_tmpfiles(reader.text(file) or ""):
            yield Assignment(
                *(host_path(file, reader.root), line.first, line.last, path, value, line.text),
                path=common_path(path, reader.root),
                stage=Stage.TMPFILES,
                ineffective=MARKED if line.text[0] == BYTE_ORDER_MARK else "",
            )


def _unquoted_field(field: str) -> str:
    try:
        return "".join(shlex.split(field))
    except ValueError:
        return field


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
            assignment = Assignment(*place, "", "", line.text, stage=stage)
            yield from program_writes(reader, assignment, value, _UDEV_PROGRAMS)
        case "ATTR" | "SYSFS" | "SYSCTL" if match["operator"] not in _CONDITIONS:
            path = _udev_path(match, line.text)
            stage = Stage.UDEV_PROGRAM if path.startswith("/sys/class/bdi/") else Stage.UDEV
            if path := common_path(path, reader.root):
                yield Assignment(*place, name, value, line.text, path=path, stage=stage)


_SYSCTL = re.compile(r"-?\s*(?P<key>[^\s=]+)\s*=\s*(?P<value>.*?)\s*|-\s*(?P<cancelled>[^\s=]+)\s*")
_SWAPPED = str.maketrans("./", "/.")
_NOT_LINKED = "nothing reads this file at boot: no link to it is in sysctl.d"


def parse_sysctl(text: str) -> Iterator[tuple[ConfigurationLine, str, str | None]]:
    """Return every ``key = value``, with dots between the key's parts.

    A key may use slashes; if its first separator is one, dots are parts of names. A value of None
    stands for ``-key``, which takes earlier values back and exempts the key from patterns.
    """
    for line in content_lines(text, comments="#;"):
        match = _SYSCTL.fullmatch(line.text.removeprefix(BYTE_ORDER_MARK))
        if match:
            yield line, dotted(match["key"] or match["cancelled"]), match["value"]


def dotted(key: str) -> str:
    """``net/ipv4/conf/eth0.1/x`` -> ``net.ipv4.conf.eth0/1.x``; a key with dots stays."""
    separators = re.search(r"[./]", key)
    if separators and separators[0] == "/":
        return key.translate(_SWAPPED)
    return key


def sysctl_path(key: str) -> str:
    """``net.ipv4.conf.eth0/1.x`` -> ``/proc/sys/net/ipv4/conf/eth0.1/x``."""
    return f"/proc/sys/{dotted(key).translate(_SWAPPED)}"


def read_sysctl(reader: Reader) -> Iterator[Assignment]:
    """Yield the lines of sysctl.d, then those of /etc/sysctl.conf, which procps reads last."""
    last = reader.root / "etc/sysctl.conf"
    linked = effective_files(reader.root, "sysctl.d", ".conf")
    is_read = os.path.realpath(last) in map(os.path.realpath, linked)
    # Debian links 99-sysctl.conf to sysctl.conf; it is one file.
    for file in {os.path.realpath(file): file for file in (*linked, last)}.values():
        unread = _NOT_LINKED if file == last and not is_read else ""
        for line, key, value in parse_sysctl(reader.text(file) or ""):
            yield Assignment(
                *(host_path(file, reader.root), line.first, line.last, key, value or "", line.text),
                path=sysctl_path(key),
                stage=Stage.SYSCTL,
                cancels=value is None,
                ineffective=unread or (MARKED if line.text[0] == BYTE_ORDER_MARK else ""),
            )


def read_writers(reader: Reader) -> tuple[Assignment, ...]:
    """Return what every file sets, in the order of the stages."""
    read = (read_sysctl, read_udev, read_tmpfiles, read_services, read_tuned)
    assignments = (line for read_format in read for line in read_format(reader))
    return tuple(sorted(assignments, key=lambda line: line.stage))
