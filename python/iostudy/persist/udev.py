"""Settings of block devices as a file of udev rules.

A rule identifies a disk by WWID or serial number in sysfs, which no other rule can set too late.
Every attribute has its own line, because udev executes lines in order. The scheduler comes first: a
switch resets its tunables, nr_requests and wbt_lat_usec.

Source: udev(7); Documentation/ABI/stable/sysfs-block; Documentation/block/switching-sched.rst;
Documentation/admin-guide/device-mapper (the creator of a volume sets its UUID).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.configuration import Assignment, read_udev_rules
from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.plan import (
    Activation,
    Conflict,
    Expected,
    PersistencePlan,
    UnsupportedSetting,
    format_heading,
    to_printable,
)
from iostudy.persist.request import Disk, PersistedSetting

FILE = Path("/etc/udev/rules.d/99-iostudy.rules")
"""After all that may set the same: 60-persistent-storage, 60-ioschedulers and the like."""
CONTROL = Path("/run/udev/control")
"""The socket of a running udev."""

SCHEDULER = "block.scheduler"
_ZONED = "mq-deadline"
"""The only scheduler under which every kernel keeps the writes of a zone in order: from 6.10 on the
block layer does (commit dd291d77cc90), and a rule outlives a kernel."""

_ZONED_REASON = (
    f"it is zoned, and before Linux 6.10 only {_ZONED} keeps the writes of a zone in order"
)
_NAME_REMEDY = "name the disks that it is to hold for with --on"
_MANUAL_REMEDY = "leave it, or write a rule of your own"
_MULTIPATH_REMEDY = (
    "start with nvme_core.multipath=N if the disk has but one path, and study it anew"
)
_NAME_WARNING = "# Known by its name only: another disk may have it after the next start."

_FRAME = """\
ACTION!="add|change", GOTO="iostudy_end"
SUBSYSTEM!="block", GOTO="iostudy_end"
ENV{{DEVTYPE}}!="disk", GOTO="iostudy_end"
{rules}LABEL="iostudy_end"
"""
_UNWRITABLE = re.compile(r'[^ -~]|["\\|]')
_VALUE = re.compile(r"[\w.,:+ -]+", re.ASCII)
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class DiskRules:
    """The lines about one disk: rules, or a comment that says why there are none."""

    disk: Disk
    lines: tuple[str, ...]
    settings: tuple[PersistedSetting, ...] = ()
    unsupported: tuple[UnsupportedSetting, ...] = ()

    @property
    def text(self) -> str:
        """Below a comment that names the disk."""
        named = " ".join(filter(None, (self.disk.name, self.disk.model)))
        return "".join(f"{line}\n" for line in (f"# {to_printable(named)}", *self.lines))


def queue_attribute(setting: PersistedSetting) -> str:
    """The file below queue: ``block.bfq.slice_idle`` -> ``iosched/slice_idle``."""
    name = setting.attribute.rpartition(".")[2]
    return f"iosched/{name}" if scheduler_of(setting) else name


def scheduler_of(setting: PersistedSetting) -> str:
    """Return the scheduler of a tunable, empty for other attributes."""
    return setting.attribute.rpartition(".")[0]


def match_disk(disk: Disk) -> str:
    """Build a match for this disk only; ValueError if it cannot be identified."""
    if disk.wwid or disk.serial:
        key = _key(disk)
        return f'{key}=="{_pattern(disk.wwid or disk.serial)}"'
    if disk.named:
        return f'KERNEL=="{_pattern(disk.name)}"'
    raise ValueError("the disk has neither a WWID nor a serial number to know it by")


def build_rules(kept: Iterable[PersistedSetting]) -> tuple[DiskRules, ...]:
    """Return the lines of every disk."""
    by_disk: dict[Disk, list[PersistedSetting]] = {}
    unplaced = []
    for setting in kept:
        if setting.disk is None:
            unplaced.append(
                UnsupportedSetting(setting.text, "it is not known on which disk", _NAME_REMEDY)
            )
        else:
            by_disk.setdefault(setting.disk, []).append(setting)
    found = tuple(_part(disk, settings) for disk, settings in by_disk.items())
    return (*found, DiskRules(Disk(""), (), unsupported=tuple(unplaced))) if unplaced else found


def format_rules(found: Iterable[DiskRules], origin: str) -> str:
    """Return the content of the file."""
    rules = "".join(part.text for part in found if part.lines)
    return format_heading(origin) + _FRAME.format(rules=rules)


def plan(kept: Sequence[PersistedSetting], origin: str, root: Path = ROOT) -> PersistencePlan:
    """Return the file and its conflicts with other rules."""
    found = build_rules(kept)
    result = PersistencePlan(
        unsupported=tuple(unkept for part in found for unkept in part.unsupported)
    )
    written = tuple(setting for part in found for setting in part.settings)
    if not written:
        return result
    here = [part for part in found if part.settings and part.disk.here]
    disks = tuple(part.disk.here for part in here)
    expected = tuple(_expected(part.disk, setting) for part in here for setting in part.settings)
    active = activations([f"/sys/class/block/{disk}" for disk in disks]) if disks else ()
    file = dropins.build_artifact(FILE, format_rules(found, origin), root, active, expected)
    notes = tuple(note for part in found if part.settings for note in _notes(part))
    return (
        result
        + _compare_with_rules(written, root)
        + PersistencePlan(artifacts=(file,), notes=notes, places=disks)
    )


def _notes(part: DiskRules) -> Iterator[str]:
    name = part.disk.name
    if not part.disk.here:
        yield f"{name} is not on this host now: its rules wait for it"
    if _NAME_WARNING in part.lines:
        yield f"{name} is known by its name only: its rules hold for whatever disk has that name"


def _part(disk: Disk, kept: Sequence[PersistedSetting]) -> DiskRules:
    scheduler = next((k.value for k in kept if k.name == SCHEDULER), None)
    if disk.exclusion_reason:
        remedy = _MULTIPATH_REMEDY if disk.hidden else _MANUAL_REMEDY
        unkept = tuple(UnsupportedSetting(k.text, disk.exclusion_reason, remedy) for k in kept)
        return DiskRules(disk, (f"# Spared: {disk.exclusion_reason}.",), unsupported=unkept)
    try:
        known = match_disk(disk)
    except ValueError as error:
        return DiskRules(
            disk,
            (),
            unsupported=tuple(UnsupportedSetting(k.text, str(error), _NAME_REMEDY) for k in kept),
        )
    ordered = sorted(kept, key=lambda k: k.name != SCHEDULER)
    trouble = {k: _find_obstacle(k, disk, scheduler) for k in ordered}
    written = tuple(setting for setting, why in trouble.items() if not why)
    lines = [_rule(known, setting, scheduler) for setting in written]
    if known.startswith("KERNEL"):
        lines.insert(0, _NAME_WARNING)
    if _ZONED_REASON in trouble.values():
        lines.insert(0, f"# No scheduler: {_ZONED_REASON}.")
    unkept = tuple(
        UnsupportedSetting(k.text, why, _MANUAL_REMEDY) for k, why in trouble.items() if why
    )
    return DiskRules(disk, tuple(lines), written, unkept)


def _find_obstacle(setting: PersistedSetting, disk: Disk, scheduler: str | None) -> str:
    own = scheduler_of(setting)
    if disk.zoned and (own or setting.name == SCHEDULER) and scheduler not in (None, _ZONED):
        return _ZONED_REASON
    if own and scheduler not in (None, own):
        return f"it is a tunable of {own}, and {scheduler} is kept"
    if not _VALUE.fullmatch(setting.value):
        return "its value has a character that does not go into a rule"
    return ""


def _rule(known: str, setting: PersistedSetting, scheduler: str | None) -> str:
    own = scheduler_of(setting)
    while_active = (
        f'ATTR{{queue/scheduler}}=="*{_pattern(f"[{own}]")}*", ' if own and not scheduler else ""
    )
    return f'{known}, {while_active}ATTR{{queue/{queue_attribute(setting)}}}="{setting.value}"'


def _key(disk: Disk) -> str:
    """Return the sysfs key of the identity: of the device itself, or of a parent."""
    for prefix, folder in (("dm-", "dm"), ("md", "md")):
        if disk.wwid and disk.name.startswith(prefix):
            return f"ATTR{{{folder}/uuid}}"
    return "ATTRS{wwid}" if disk.wwid else "ATTRS{serial}"


def _pattern(identity: str) -> str:
    """Return a pattern that matches only this text."""
    if _UNWRITABLE.search(identity):
        raise ValueError(f"its identity {identity!r} has a character that no rule can match")
    return _GLOB.sub(r"[\g<0>]", identity)


def activations(devices: Sequence[str]) -> tuple[Activation, ...]:
    """Return commands that apply the rules to devices: sysfs paths, or selecting options."""
    later = "udev is not running here; the rules hold from the next start"
    commands = (
        ("udevadm", "control", "--reload"),
        ("udevadm", "trigger", "--action=change", "--settle", *devices),
    )
    return tuple(Activation(command, CONTROL, later) for command in commands)


def _expected(disk: Disk, setting: PersistedSetting) -> Expected:
    return Expected(Path("/sys/block", disk.here, "queue", queue_attribute(setting)), setting.value)


def _compare_with_rules(kept: Iterable[PersistedSetting], root: Path) -> PersistencePlan:
    """Return other rules for the same attributes; only udev knows if they match these disks."""
    wanted: dict[str, list[str]] = {}
    for setting in kept:
        wanted.setdefault(queue_attribute(setting), []).append(setting.text)
    result = PersistencePlan()
    for line in dropins.read_other_lines(read_udev_rules, root, FILE):
        name = line.name.removeprefix("queue/")
        if name in wanted:
            result += _compare_with_line(", ".join(wanted[name]), line)
    return result


def _compare_with_line(what: str, line: Assignment) -> PersistencePlan:
    if line.file.name < FILE.name:
        return PersistencePlan(
            notes=(f"{what}: {line.where} may set it too; {FILE.name} is read later",)
        )
    remedy = "rename that file so that it is read before, or take that assignment out"
    return PersistencePlan(conflicts=(Conflict(what, line.where, line.text, remedy),))
