"""Settings of block devices as a file of udev rules.

A rule identifies a disk by WWID or serial number in sysfs, or a class of disks by model, rotation
or name, which no other rule can set too late. Every attribute has its own line, because udev
executes lines in order. The scheduler comes first: a switch resets its tunables, nr_requests and
wbt_lat_usec.

Source: udev(7); Documentation/ABI/stable/sysfs-block; Documentation/block/switching-sched.rst;
Documentation/admin-guide/device-mapper (the creator of a volume sets its UUID).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import assert_never

from iostudy.host.configuration.assignment import Assignment, Stage
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
from iostudy.persist.request import DiskMatch, InventoryDisk, PersistedSetting, PersistRequest

_UNWRITABLE = re.compile(r'[^ -~]|["\\|]')
_GLOB = re.compile(r"[*?\[]")
_NUMBER = re.compile(r"\d+")
_LETTERED = re.compile(r"([a-z]{1,3}?d)[a-z]+")
"""Disks that a driver letters, such as sda, xvdb, dasdc: all of their prefixes end in d."""
_NOT_A_PATH = 'ENV{DM_MULTIPATH_DEVICE_PATH}!="1", ENV{DM_UUID}!="mpath-*"'
"""Excludes multipath volumes and their paths (multipath-tools, 60-multipath.rules)."""


@dataclass(frozen=True)
class DiskPattern:
    """The match of a udev rule, and the options of `udevadm trigger` that select the same disks.

    ``name`` describes the disks. Each element of ``triggers`` is one call's selection. `udevadm
    trigger` cannot exclude multipath paths, on which no rule acts.
    """

    rule: str
    triggers: tuple[tuple[str, ...], ...]
    name: str


def find_pattern(disk: InventoryDisk, match: DiskMatch) -> DiskPattern:
    """The pattern of a disk; ValueError if it has nothing to match by."""
    match match:
        case DiskMatch.SERIAL:
            return _match_identity(disk)
        case DiskMatch.MODEL:
            if not disk.model:
                raise ValueError("the disk has no model to know its class by")
            model = _escape(disk.model)
            rule = f'ATTR{{device/model}}=="{model}"'
            # The kernel pads the model with blanks, which only rules ignore.
            return _class_pattern(
                rule, f"--attr-match=device/model={model}*", f"model {disk.model}"
            )
        case DiskMatch.ROTATIONAL:
            if not disk.bus or not disk.rotational:
                raise ValueError("it is no physical disk that says whether it is rotational")
            kind = "rotational" if disk.rotational == "1" else "not rotational"
            rule = f'ATTR{{queue/rotational}}=="{disk.rotational}", TEST=="device"'
            attribute = f"--attr-match=queue/rotational={disk.rotational}"
            return _class_pattern(rule, attribute, kind, "--attr-match=device/uevent")
        case DiskMatch.NAME_PATTERN:
            pattern = name_pattern(disk)
            trigger = f"--sysname-match={_in_sysfs(pattern)}"
            return _class_pattern(f'KERNEL=="{pattern}"', trigger, pattern)
        case unreachable:
            assert_never(unreachable)


def name_pattern(disk: InventoryDisk) -> str:
    """The pattern of a driver's names in udev: ``sd*``, and ``cciss/c*d*`` of ``cciss!c0d0``.

    A driver gives its disks letters or numbers.
    """
    letters = _LETTERED.fullmatch(disk.name)
    return f"{letters[1]}*" if letters else _NUMBER.sub("*", _escape(disk.udev_name))


def _in_sysfs(pattern: str) -> str:
    """The pattern for `udevadm trigger`, which knows a slash in a name as ``!``, as sysfs does."""
    return pattern.replace("/", "?")


def in_class(disk: InventoryDisk, studied: InventoryDisk, match: DiskMatch) -> bool:
    """Return whether rules for the class of the studied disk act on another disk."""
    if disk.exclusion_reason or disk.zoned:
        return False
    match match:
        case DiskMatch.SERIAL:
            return disk.name == studied.name
        case DiskMatch.MODEL:
            return disk.model == studied.model
        case DiskMatch.ROTATIONAL:
            return bool(disk.bus) and disk.rotational == studied.rotational
        case DiskMatch.NAME_PATTERN:
            return fnmatchcase(disk.udev_name, name_pattern(studied))
        case unreachable:
            assert_never(unreachable)


def _match_identity(disk: InventoryDisk) -> DiskPattern:
    named = " ".join(filter(None, (disk.name, disk.model)))
    if disk.wwid or disk.serial:
        identity = _escape(disk.wwid or disk.serial)
        key, *files = _identity_files(disk)
        triggers = tuple((f"--attr-match={file}={identity}",) for file in files)
        return DiskPattern(f'{key}=="{identity}"', triggers, named)
    if disk.named:
        name = _escape(disk.udev_name)
        return DiskPattern(f'KERNEL=="{name}"', ((f"--sysname-match={_in_sysfs(name)}",),), named)
    raise ValueError("the disk has neither a WWID nor a serial number to know it by")


def _identity_files(disk: InventoryDisk) -> tuple[str, ...]:
    """The sysfs key of the identity in a rule, then the files that may hold it."""
    if disk.wwid_file.endswith("/uuid"):
        return f"ATTR{{{disk.wwid_file}}}", disk.wwid_file
    # ATTRS finds it on the disk or on a parent; trigger needs the place.
    name = "wwid" if disk.wwid else "serial"
    return f"ATTRS{{{name}}}", name, f"device/{name}"


def _class_pattern(rule: str, trigger: str, name: str, *more: str) -> DiskPattern:
    return DiskPattern(f"{rule}, {_NOT_A_PATH}", ((trigger, *more),), f"disks: {name}")


def _escape(identity: str) -> str:
    """Return a pattern that matches only this text."""
    if _UNWRITABLE.search(identity):
        raise ValueError(f"its identity {identity!r} has a character that no rule can match")
    return _GLOB.sub(r"[\g<0>]", identity)


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
_CLASS_REMEDY = "give another --match"
_MANUAL_REMEDY = "leave it, or write a rule of your own"
_MULTIPATH_REMEDY = (
    "start with nvme_core.multipath=N if the disk has only one path, and study it again"
)
_NAME_WARNING = "# Known by its name only: another disk may have it after the next start."

_FRAME = """\
ACTION!="add|change", GOTO="iostudy_end"
SUBSYSTEM!="block", GOTO="iostudy_end"
ENV{{DEVTYPE}}!="disk", GOTO="iostudy_end"
{rules}LABEL="iostudy_end"
"""
_VALUE = re.compile(r"[\w.,:+ -]+", re.ASCII)


@dataclass(frozen=True)
class UdevRule:
    """An assignment to a file below queue, if ``condition`` holds (empty or ending in a comma)."""

    condition: str
    attribute: str
    value: str

    @property
    def text(self) -> str:
        """Behind the match of the disk."""
        return f'{self.condition}ATTR{{queue/{self.attribute}}}="{self.value}"'


@dataclass(frozen=True)
class DiskRules:
    """The rules about a disk or a class of disks, or a comment with the reason for their absence.

    ``disks`` are those of the settings; ``here`` are the names of all disks of this host that the
    rules match.
    """

    disks: tuple[InventoryDisk, ...]
    pattern: DiskPattern | None = None
    comments: tuple[str, ...] = ()
    rules: tuple[UdevRule, ...] = ()
    settings: tuple[PersistedSetting, ...] = ()
    unsupported: tuple[UnsupportedSetting, ...] = ()
    here: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The disks, as a comment names them."""
        disk = self.disks[0]
        named = " ".join(filter(None, (disk.name, disk.model)))
        return to_printable(self.pattern.name if self.pattern else named)

    @property
    def text(self) -> str:
        """Below a comment that names the disks."""
        match = f"{self.pattern.rule}, " if self.pattern else ""
        rules = (f"{match}{rule.text}" for rule in self.rules)
        return "".join(f"{line}\n" for line in (f"# {self.heading}", *self.comments, *rules))


def queue_attribute(setting: PersistedSetting) -> str:
    """The file below queue: ``block.bfq.slice_idle`` -> ``iosched/slice_idle``."""
    name = setting.attribute.rpartition(".")[2]
    return f"iosched/{name}" if scheduler_of(setting) else name


def scheduler_of(setting: PersistedSetting) -> str:
    """Return the scheduler of a tunable, empty for other attributes."""
    return setting.attribute.rpartition(".")[0]


def build_rules(
    kept: Iterable[PersistedSetting],
    match: DiskMatch = DiskMatch.SERIAL,
    present: Iterable[InventoryDisk] = (),
) -> tuple[DiskRules, ...]:
    """Return the rules of every disk, or of every class of disks.

    ``present`` are the disks of this host.
    """
    by_disk: dict[InventoryDisk, list[PersistedSetting]] = {}
    unplaced = []
    for setting in kept:
        if setting.disk is None:
            unplaced.append(
                UnsupportedSetting(setting.text, "it is not known on which disk", _NAME_REMEDY)
            )
        else:
            by_disk.setdefault(setting.disk, []).append(setting)
    present = tuple(present)
    parts = _merge_classes(
        _part(disk, settings, match, present) for disk, settings in by_disk.items()
    )
    return (*parts, DiskRules((), unsupported=tuple(unplaced))) if unplaced else parts


def _merge_classes(parts: Iterable[DiskRules]) -> tuple[DiskRules, ...]:
    """Merge the rules of disks of one class; a second value of a setting is not kept."""
    merged: dict[str, DiskRules] = {}
    for number, part in enumerate(parts):
        key = part.pattern.rule if part.rules and part.pattern else str(number)
        merged[key] = _merge_class(merged[key], part) if key in merged else part
    return tuple(merged.values())


def _merge_class(first: DiskRules, other: DiskRules) -> DiskRules:
    values = {setting.name: setting for setting in first.settings}
    added = [s for s in other.settings if s.name not in values]
    differing = tuple(
        UnsupportedSetting(s.text, f"the same class has {values[s.name].text}", _CLASS_REMEDY)
        for s in other.settings
        if s.name in values and s.value != values[s.name].value
    )
    names = {queue_attribute(setting) for setting in added}
    return replace(
        first,
        disks=(*first.disks, *other.disks),
        rules=(*first.rules, *(rule for rule in other.rules if rule.attribute in names)),
        settings=(*first.settings, *added),
        unsupported=(*first.unsupported, *other.unsupported, *differing),
    )


def format_rules(rules: Iterable[DiskRules], origin: str) -> str:
    """Return the content of the file."""
    return format_heading(origin) + frame("".join(part.text for part in rules if part.disks))


def frame(rules: str) -> str:
    """Rules that act on whole disks only, when they appear or change."""
    return _FRAME.format(rules=rules)


def plan(kept: Sequence[PersistedSetting], request: PersistRequest, root: Path) -> PersistencePlan:
    """Return the file and its conflicts with other rules."""
    rules = build_rules(kept, request.match, request.present)
    result = PersistencePlan(
        unsupported=tuple(unkept for part in rules for unkept in part.unsupported)
    )
    written = tuple(setting for part in rules for setting in part.settings)
    if not written:
        return result
    disks = tuple(dict.fromkeys(name for part in rules if part.settings for name in part.here))
    expected = tuple(
        Expected(Path("/sys/block", name, "queue", queue_attribute(setting)), setting.value)
        for part in rules
        for name in part.here
        for setting in part.settings
    )
    active = _activations(disks) if disks else ()
    file = dropins.build_artifact(FILE, format_rules(rules, request.origin), root, active, expected)
    notes = tuple(note for part in rules if part.settings for note in _notes(part, request.match))
    return (
        result
        + _compare_with_writers(rules, root)
        + PersistencePlan(artifacts=(file,), notes=notes, places=disks)
    )


def _notes(part: DiskRules, match: DiskMatch) -> Iterator[str]:
    name = part.disks[0].name
    if match is not DiskMatch.SERIAL:
        yield f"the rules match {part.heading} on any host; here: {', '.join(part.here) or 'none'}"
        return
    if not part.here:
        yield f"{name} is not on this host now: its rules wait for it"
    if _NAME_WARNING in part.comments:
        yield f"{name} is known by its name only: its rules hold for whatever disk has that name"


def _part(
    disk: InventoryDisk,
    kept: Sequence[PersistedSetting],
    match: DiskMatch,
    present: Sequence[InventoryDisk],
) -> DiskRules:
    scheduler = next((k.value for k in kept if k.name == SCHEDULER), None)
    if disk.exclusion_reason:
        remedy = _MULTIPATH_REMEDY if disk.hidden else _MANUAL_REMEDY
        unkept = tuple(UnsupportedSetting(k.text, disk.exclusion_reason, remedy) for k in kept)
        spared = (f"# Spared: {disk.exclusion_reason}.",)
        return DiskRules((disk,), comments=spared, unsupported=unkept)
    try:
        pattern = find_pattern(disk, match)
    except ValueError as error:
        remedy = _NAME_REMEDY if match is DiskMatch.SERIAL else _CLASS_REMEDY
        unkept = tuple(UnsupportedSetting(k.text, str(error), remedy) for k in kept)
        return DiskRules((), unsupported=unkept)
    ordered = sorted(kept, key=lambda k: k.name != SCHEDULER)
    trouble = {k: _find_obstacle(k, disk, scheduler) for k in ordered}
    written = tuple(setting for setting, why in trouble.items() if not why)
    unkept = tuple(
        UnsupportedSetting(k.text, why, _MANUAL_REMEDY) for k, why in trouble.items() if why
    )
    by_name = match is DiskMatch.SERIAL and pattern.rule.startswith("KERNEL")
    zoned = _ZONED_REASON in trouble.values()
    in_classes = [other.name for other in present if in_class(other, disk, match)]
    here = [disk.here] if match is DiskMatch.SERIAL else in_classes
    return DiskRules(
        (disk,),
        pattern,
        (
            *((f"# No scheduler: {_ZONED_REASON}.",) if zoned else ()),
            *((_NAME_WARNING,) if by_name else ()),
        ),
        tuple(_rule(setting, scheduler, match) for setting in written),
        written,
        unkept,
        tuple(filter(None, here)),
    )


def _find_obstacle(setting: PersistedSetting, disk: InventoryDisk, scheduler: str | None) -> str:
    needed = scheduler_of(setting)
    if disk.zoned and (needed or setting.name == SCHEDULER) and scheduler not in (None, _ZONED):
        return _ZONED_REASON
    if needed and scheduler not in (None, needed):
        return f"it is a tunable of {needed}, and {scheduler} is kept"
    if not _VALUE.fullmatch(setting.value):
        return "its value has a character that does not go into a rule"
    return ""


def _rule(setting: PersistedSetting, scheduler: str | None, match: DiskMatch) -> UdevRule:
    needed = scheduler_of(setting)
    active = f'ATTR{{queue/scheduler}}=="*[[]{needed}]*", ' if needed and not scheduler else ""
    ordered = needed or setting.name == SCHEDULER
    # A class may have zoned disks on other hosts.
    unzoned = ordered and match is not DiskMatch.SERIAL and _ZONED not in (needed, setting.value)
    spared = 'ATTR{queue/zoned}=="none", ' if unzoned else ""
    return UdevRule(spared + active, queue_attribute(setting), setting.value)


def _activations(disks: Iterable[str]) -> tuple[Activation, ...]:
    """Return commands that apply the rules to the disks."""
    later = "udev is not running here; the rules hold from the next start"
    devices = (f"/sys/class/block/{disk}" for disk in disks)
    commands = (
        ("udevadm", "control", "--reload"),
        ("udevadm", "trigger", "--action=change", "--settle", *devices),
    )
    return tuple(Activation(command, CONTROL, later) for command in commands)


def _compare_with_writers(parts: Iterable[DiskRules], root: Path) -> PersistencePlan:
    """Return other writers of the same values; only udev knows which disks its rules match."""
    wanted = [
        (setting, f"/sys/block/{name}/queue/{queue_attribute(setting)}")
        for part in parts
        for setting in part.settings
        for name in part.here or ("*",)
    ]
    result = PersistencePlan()
    for line in dropins.read_other_writers(root, FILE):
        settings = [
            s for s, path in wanted if line.writes(path) and not dropins.agrees(line.value, s.value)
        ]
        if settings:
            what = ", ".join(dict.fromkeys(setting.text for setting in settings))
            result += _compare_with_line(what, line)
    return result


def _compare_with_line(what: str, line: Assignment) -> PersistencePlan:
    if line.ineffective:
        return PersistencePlan(
            notes=(f"{what}: {line.where} may set it too, although {line.ineffective}",)
        )
    if not dropins.overrides(line, FILE, Stage.UDEV):
        return PersistencePlan(
            notes=(f"{what}: {line.where} may set it too; {FILE.name} is read later",)
        )
    remedy = (
        dropins.TUNED_REMEDY
        if line.stage is Stage.TUNED
        else "rename that file so that it is read before, or take that assignment out"
        if line.stage is Stage.UDEV
        else f"take it out: it runs after the rule ({line.stage.label})"
    )
    return PersistencePlan(conflicts=(Conflict(what, line.where, line.text, remedy),))
