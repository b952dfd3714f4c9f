"""Control group of a trial, which contains this process during the trial.

All settings of a trial are one group, since a process can only be in one. The group is next to or
below the process's own. If cgroup v2 does not enable the io controller there, iostudy enables it
for as long as groups of iostudy need it; their names show that.

Source: Documentation/admin-guide/cgroup-v2.rst (IO, "No Internal Process Constraint"),
cgroup-v1/blkio-controller.rst; tg_set_limit() and tg_set_conf() in the kernel's
block/blk-throttle.c, bfq_io_set_weight() in block/bfq-cgroup.c.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from iostudy.errors import RestoreError, SettingError
from iostudy.host import cgroups, stack
from iostudy.host.cgroups import CONTROLLER, PROCESSES, SUBTREE_CONTROL, CgroupVersion
from iostudy.host.files import is_being_written, read_attribute, write_attribute
from iostudy.settings.change import ConflictPolicy, PrivateChange, Record, SettingKind
from iostudy.settings.definitions.cgroup import NO_LIMIT, CgroupSettingDefinition, Control
from iostudy.settings.identity import boot_id

_PREFIX = "iostudy-"
_TURNED_ON_PREFIX = "iostudy-io-"
_V1_FILES = {
    Control.RBPS: "blkio.throttle.read_bps_device",
    Control.WBPS: "blkio.throttle.write_bps_device",
    Control.RIOPS: "blkio.throttle.read_iops_device",
    Control.WIOPS: "blkio.throttle.write_iops_device",
}
_WEIGHT_FILES = {
    CgroupVersion.V1: ("blkio.bfq.weight", "blkio.weight"),
    CgroupVersion.V2: ("io.bfq.weight", "io.weight"),
}
# A process that was killed leaves its group when the last of its I/O has had its turn.
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True)
class GroupLimit:
    """A value for a group; ``number`` is the device's major:minor, empty for a weight."""

    control: Control
    number: str
    value: str

    def write(self, group: Path, version: CgroupVersion) -> None:
        """Hand it to the kernel; OSError if it is refused."""
        if self.control is Control.WEIGHT:
            for path in _weight_files(group, version):
                write_attribute(path, self.value)
        elif version is CgroupVersion.V2:
            write_attribute(group / "io.max", f"{self.number} {self.control}={self.value}")
        else:
            amount = "0" if self.value == NO_LIMIT else self.value
            write_attribute(group / _V1_FILES[self.control], f"{self.number} {amount}")


@dataclass(frozen=True)
class CgroupSetting:
    """A definition bound to a device, or to none for a weight."""

    definition: CgroupSettingDefinition
    device: str
    number: str

    @property
    def label(self) -> str:
        return f"{self.definition.name}@{self.device}" if self.device else self.definition.name

    def read(self) -> str:
        """Return the value in the current group of this process; SettingError without one."""
        hierarchy = cgroups.io_hierarchy()
        rule = read_rule(hierarchy.group, hierarchy.version, self.definition.control, self.number)
        if rule is None:
            raise SettingError(
                f"to read {self.label}",
                found="the group has no weight",
                where=str(hierarchy.group),
                remedy=_remedy(Control.WEIGHT),
            )
        return rule

    def available_values(self) -> tuple[str, ...]:
        return ()


def read_rule(group: Path, version: CgroupVersion, control: Control, number: str) -> str | None:
    """Return the value in a group, ``max`` for no limit; None without a weight."""
    if control is Control.WEIGHT:
        texts = [read_attribute(path) for path in _weight_files(group, version)]
        # "default 100", or "100" alone, before any lines for devices.
        return next((t.splitlines()[0].split()[-1] for t in texts if t), None)
    name = "io.max" if version is CgroupVersion.V2 else _V1_FILES[control]
    return parse_limit(read_attribute(group / name) or "", control, number)


def parse_limit(text: str, control: Control, number: str) -> str:
    """Return a device's limit in ``io.max`` (``7:0 rbps=max ...``) or a v1 file (``7:0 1024``)."""
    for line in text.splitlines():
        device, *fields = line.split()
        if device == number:
            keyed = dict(field.split("=", 1) for field in fields if "=" in field)
            return keyed.get(control, NO_LIMIT) if keyed else fields[0]
    return NO_LIMIT


@dataclass(frozen=True)
class TrialGroup(PrivateChange):
    """A group with rules, and this process in it; ``origin`` is the group that it came from.

    ``turned_on`` says whether the io controller is handed down to it for iostudy's sake only.
    """

    kind: ClassVar[str] = "io-cgroup"

    path: Path
    origin: Path
    top: Path
    version: CgroupVersion
    turned_on: bool
    boot: str
    rules: tuple[GroupLimit, ...]

    @classmethod
    def prepare(cls, rules: Iterable[GroupLimit]) -> TrialGroup:
        """Return a group with a unique name; TargetError if none can be created."""
        hierarchy = cgroups.io_hierarchy()
        parent = cgroups.group_for_children(hierarchy)
        # The last group that iostudy has enabled the controller for disables it.
        turned_on = hierarchy.version is CgroupVersion.V2 and (
            CONTROLLER not in cgroups.read_words(parent / SUBTREE_CONTROL) or _needed(parent)
        )
        prefix = _TURNED_ON_PREFIX if turned_on else _PREFIX
        return cls(
            path=parent / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}",
            origin=hierarchy.group,
            top=hierarchy.top,
            version=hierarchy.version,
            turned_on=turned_on,
            boot=boot_id(),
            rules=tuple(rules),
        )

    @classmethod
    def from_record(cls, record: Record) -> TrialGroup:
        paths = {name: Path(record[name]) for name in ("path", "origin", "top")}
        rules = tuple(
            GroupLimit(**{**r, "control": Control(r["control"])}) for r in record["rules"]
        )
        version = CgroupVersion(record["version"])
        return cls(**{**record, **paths, "version": version, "rules": rules})

    def record(self) -> Record:
        paths = {name: os.fspath(getattr(self, name)) for name in ("path", "origin", "top")}
        return {**asdict(self), **paths}

    def describe(self) -> str:
        """``control group iostudy-4711-0a1b2c3d: wbps 7:0 = 1048576``."""
        rules = ", ".join(f"{r.control} {r.number}".strip() + f" = {r.value}" for r in self.rules)
        return f"control group {self.path.name}: {rules}"

    def apply(self) -> None:
        """Make the group, write its rules, read them back, and move this process into it.

        SettingError where the kernel refuses; `undo` reverts what was done by then.
        """
        try:
            self._make()
        except OSError as error:
            raise self._refused(error.strerror or str(error)) from error
        for rule in self.rules:
            self._rule(rule)
        try:
            write_attribute(self.path / PROCESSES, str(os.getpid()))
        except OSError as error:
            raise self._refused(f"to move there: {error.strerror}") from error

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Move back what is in the group, remove it, and turn the controller off again."""
        if self.boot != boot_id():
            return (f"{self.describe()}: the host has been rebooted, and it is gone",)
        if any(map(is_being_written, (self.path / PROCESSES, self.path.parent / SUBTREE_CONTROL))):
            raise self._not_removed(OSError(errno.ETIMEDOUT, "a write to it has not ended"))
        done = []
        if self.path.exists():
            self._remove()
            done.append(f"{self.describe()}: removed")
        if self.turned_on and self._turn_off():
            done.append(f"the {CONTROLLER} controller below {self.path.parent}: turned off again")
        return tuple(done)

    def _make(self) -> None:
        parent = self.path.parent
        if self.turned_on and CONTROLLER not in cgroups.read_words(parent / SUBTREE_CONTROL):
            write_attribute(parent / SUBTREE_CONTROL, f"+{CONTROLLER}")
        self.path.mkdir()

    def _rule(self, rule: GroupLimit) -> None:
        try:
            rule.write(self.path, self.version)
            limit = read_rule(self.path, self.version, rule.control, rule.number)
        except OSError as error:
            raise self._refused(error.strerror or str(error), rule) from error
        if limit is None:
            raise self._refused("this kernel weighs no groups now", rule)
        if limit != rule.value:
            raise self._refused(f"the actual value is {limit}", rule)

    def _refused(self, found: str, rule: GroupLimit | None = None) -> SettingError:
        return SettingError(
            self.describe(),
            found=found,
            where=str(self.path),
            remedy=_remedy(rule.control if rule else None),
        )

    def _remove(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._move_back()
                self.path.rmdir()
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise self._not_removed(error) from error
                time.sleep(0.01)
            else:
                return

    def _move_back(self) -> None:
        back = self.origin if self.origin.exists() else self.top
        for process in cgroups.read_words(self.path / PROCESSES):
            try:
                write_attribute(back / PROCESSES, process)
            except ProcessLookupError:
                continue

    def _turn_off(self) -> bool:
        """Disable the controller; return whether it was enabled. It stays on for other groups."""
        parent = self.path.parent
        if CONTROLLER not in cgroups.read_words(parent / SUBTREE_CONTROL) or _needed(parent):
            return False
        try:
            write_attribute(parent / SUBTREE_CONTROL, f"-{CONTROLLER}")
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise self._not_removed(error) from error
            return False
        return True

    def _not_removed(self, error: OSError) -> RestoreError:
        return RestoreError(
            f"to remove the {self.describe()}",
            found=error.strerror or str(error),
            where=str(self.path),
            remedy=f"see {PROCESSES} in it for who is there, then `iostudy restore` as root",
        )


def bind(definition: CgroupSettingDefinition, place: str) -> tuple[CgroupSetting, ...]:
    """The setting on every device that the file system of ``place`` sits on.

    TargetError where there is no device, or no control group that limits I/O.
    """
    cgroups.io_hierarchy()
    if definition.control is Control.WEIGHT:
        return (CgroupSetting(definition, "", ""),)
    devices = stack.top_devices(place)
    return tuple(CgroupSetting(definition, device.name, device.number) for device in devices)


def changes(wanted: Mapping[CgroupSetting, str]) -> tuple[TrialGroup, ...]:
    """Return one group for all settings."""
    rules = [GroupLimit(s.definition.control, s.number, value) for s, value in wanted.items()]
    return (TrialGroup.prepare(rules),) if rules else ()


KIND = SettingKind(CgroupSettingDefinition, bind, changes)


def _weight_files(group: Path, version: CgroupVersion) -> tuple[Path, ...]:
    """Return the weight files of this kernel; the root group has none."""
    return tuple(p for p in (group / name for name in _WEIGHT_FILES[version]) if p.exists())


def _needed(parent: Path) -> bool:
    return any(parent.glob(f"{_TURNED_ON_PREFIX}*/"))


def _remedy(control: Control | None) -> str:
    if control is Control.WEIGHT:
        return "choose the scheduler bfq (modprobe bfq), or leave the weight out"
    return "run as root, or in a control group whose parent is delegated with io"
