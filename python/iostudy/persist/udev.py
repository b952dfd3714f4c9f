"""Settings of block devices as a file of udev rules.

A disk is known by its WWID or serial number, as sysfs has them: that needs no property that another
rule may set too late. Every attribute has a line of its own, for lines are carried out in their
order: the scheduler first, for a switch resets its tunables, nr_requests and wbt_lat_usec.

Source: udev(7); Documentation/ABI/stable/sysfs-block; Documentation/block/switching-sched.rst;
Documentation/admin-guide/device-mapper (a UUID is given by whoever makes the volume).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.configuration import Assignment, read_udev_rules
from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.kept import Disk, Kept
from iostudy.persist.rendered import (
    Activation,
    Clash,
    Expected,
    Rendered,
    Unkept,
    heading,
    printable,
)

FILE = Path("/etc/udev/rules.d/99-iostudy.rules")
"""After all that may set the same: 60-persistent-storage, 60-ioschedulers and the like."""
CONTROL = Path("/run/udev/control")
"""The socket of a running udev."""

SCHEDULER = "block.scheduler"
_ZONED = "mq-deadline"
"""The only scheduler under which every kernel keeps the writes of a zone in order: from 6.10 on the
block layer does (commit dd291d77cc90), and a rule outlives a kernel."""

_OF_ZONES = f"it is zoned, and before Linux 6.10 only {_ZONED} keeps the writes of a zone in order"
_NAME_IT = "name the disks that it is to hold for with --on"
_LEAVE_IT = "leave it, or write a rule of your own"
_START_WITHOUT = "start with nvme_core.multipath=N if the disk has but one path, and study it anew"
_BY_NAME = "# Known by its name only: another disk may have it after the next start."

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
class Part:
    """The lines about one disk: rules, or a comment that says why there are none."""

    disk: Disk
    lines: tuple[str, ...]
    kept: tuple[Kept, ...] = ()
    unkept: tuple[Unkept, ...] = ()

    @property
    def text(self) -> str:
        """Below a comment that names the disk."""
        named = " ".join(filter(None, (self.disk.name, self.disk.model)))
        return "".join(f"{line}\n" for line in (f"# {printable(named)}", *self.lines))


def attribute(setting: Kept) -> str:
    """The file below queue: ``block.bfq.slice_idle`` -> ``iosched/slice_idle``."""
    name = setting.attribute.rpartition(".")[2]
    return f"iosched/{name}" if scheduler_of(setting) else name


def scheduler_of(setting: Kept) -> str:
    """The scheduler whose tunable it is, empty for other attributes."""
    return setting.attribute.rpartition(".")[0]


def match(disk: Disk) -> str:
    """What only this disk fulfils; ValueError where it cannot be told from others."""
    if disk.wwid or disk.serial:
        key = _key(disk)
        return f'{key}=="{_pattern(disk.wwid or disk.serial)}"'
    if disk.named:
        return f'KERNEL=="{_pattern(disk.name)}"'
    raise ValueError("the disk has neither a WWID nor a serial number to know it by")


def parts(kept: Iterable[Kept]) -> tuple[Part, ...]:
    """The lines of every disk."""
    by_disk: dict[Disk, list[Kept]] = {}
    unplaced = []
    for setting in kept:
        if setting.disk is None:
            unplaced.append(Unkept(setting.text, "it is not known on which disk", _NAME_IT))
        else:
            by_disk.setdefault(setting.disk, []).append(setting)
    found = tuple(_part(disk, settings) for disk, settings in by_disk.items())
    return (*found, Part(Disk(""), (), unkept=tuple(unplaced))) if unplaced else found


def text(found: Iterable[Part], origin: str) -> str:
    """The content of the file."""
    rules = "".join(part.text for part in found if part.lines)
    return heading(origin) + _FRAME.format(rules=rules)


def plan(kept: Sequence[Kept], origin: str, root: Path = ROOT) -> Rendered:
    """The file beside what other rules set."""
    found = parts(kept)
    told = Rendered(unkept=tuple(unkept for part in found for unkept in part.unkept))
    written = tuple(setting for part in found for setting in part.kept)
    if not written:
        return told
    here = [part for part in found if part.kept and part.disk.here]
    disks = tuple(part.disk.here for part in here)
    expected = tuple(_expected(part.disk, setting) for part in here for setting in part.kept)
    active = activations([f"/sys/class/block/{disk}" for disk in disks]) if disks else ()
    file = dropins.artifact(FILE, text(found, origin), root, active, expected)
    notes = tuple(note for part in found if part.kept for note in _notes(part))
    return told + _others(written, root) + Rendered(artifacts=(file,), notes=notes, places=disks)


def _notes(part: Part) -> Iterator[str]:
    name = part.disk.name
    if not part.disk.here:
        yield f"{name} is not on this host now: its rules wait for it"
    if _BY_NAME in part.lines:
        yield f"{name} is known by its name only: its rules hold for whatever disk has that name"


def _part(disk: Disk, kept: Sequence[Kept]) -> Part:
    scheduler = next((k.value for k in kept if k.name == SCHEDULER), None)
    if disk.spared:
        remedy = _START_WITHOUT if disk.hidden else _LEAVE_IT
        unkept = tuple(Unkept(k.text, disk.spared, remedy) for k in kept)
        return Part(disk, (f"# Spared: {disk.spared}.",), unkept=unkept)
    try:
        known = match(disk)
    except ValueError as error:
        return Part(disk, (), unkept=tuple(Unkept(k.text, str(error), _NAME_IT) for k in kept))
    ordered = sorted(kept, key=lambda k: k.name != SCHEDULER)
    trouble = {k: _trouble(k, disk, scheduler) for k in ordered}
    written = tuple(setting for setting, why in trouble.items() if not why)
    lines = [_rule(known, setting, scheduler) for setting in written]
    if known.startswith("KERNEL"):
        lines.insert(0, _BY_NAME)
    if _OF_ZONES in trouble.values():
        lines.insert(0, f"# No scheduler: {_OF_ZONES}.")
    unkept = tuple(Unkept(k.text, why, _LEAVE_IT) for k, why in trouble.items() if why)
    return Part(disk, tuple(lines), written, unkept)


def _trouble(setting: Kept, disk: Disk, scheduler: str | None) -> str:
    own = scheduler_of(setting)
    if disk.zoned and (own or setting.name == SCHEDULER) and scheduler not in (None, _ZONED):
        return _OF_ZONES
    if own and scheduler not in (None, own):
        return f"it is a tunable of {own}, and {scheduler} is kept"
    if not _VALUE.fullmatch(setting.value):
        return "its value has a character that does not go into a rule"
    return ""


def _rule(known: str, setting: Kept, scheduler: str | None) -> str:
    own = scheduler_of(setting)
    while_active = (
        f'ATTR{{queue/scheduler}}=="*{_pattern(f"[{own}]")}*", ' if own and not scheduler else ""
    )
    return f'{known}, {while_active}ATTR{{queue/{attribute(setting)}}}="{setting.value}"'


def _key(disk: Disk) -> str:
    """Where sysfs has the identity: in the device itself, or in one that it hangs on."""
    for prefix, folder in (("dm-", "dm"), ("md", "md")):
        if disk.wwid and disk.name.startswith(prefix):
            return f"ATTR{{{folder}/uuid}}"
    return "ATTRS{wwid}" if disk.wwid else "ATTRS{serial}"


def _pattern(identity: str) -> str:
    """The pattern that only this text matches."""
    if _UNWRITABLE.search(identity):
        raise ValueError(f"its identity {identity!r} has a character that no rule can match")
    return _GLOB.sub(r"[\g<0>]", identity)


def activations(devices: Sequence[str]) -> tuple[Activation, ...]:
    """What makes the rules hold for the devices: paths in sysfs, or options that choose them."""
    later = "udev is not running here; the rules hold from the next start"
    commands = (
        ("udevadm", "control", "--reload"),
        ("udevadm", "trigger", "--action=change", "--settle", *devices),
    )
    return tuple(Activation(command, CONTROL, later) for command in commands)


def _expected(disk: Disk, setting: Kept) -> Expected:
    return Expected(Path("/sys/block", disk.here, "queue", attribute(setting)), setting.value)


def _others(kept: Iterable[Kept], root: Path) -> Rendered:
    """Other rules about the same attributes: whether they match these disks, only udev can tell."""
    wanted: dict[str, list[str]] = {}
    for setting in kept:
        wanted.setdefault(attribute(setting), []).append(setting.text)
    told = Rendered()
    for line in dropins.lines_of_others(read_udev_rules, root, FILE):
        name = line.name.removeprefix("queue/")
        if name in wanted:
            told += _beside(", ".join(wanted[name]), line)
    return told


def _beside(what: str, line: Assignment) -> Rendered:
    if line.file.name < FILE.name:
        return Rendered(notes=(f"{what}: {line.where} may set it too; {FILE.name} is read later",))
    remedy = "rename that file so that it is read before, or take that assignment out"
    return Rendered(clashes=(Clash(what, line.where, line.text, remedy),))
