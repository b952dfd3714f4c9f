"""Kernel parameters below ``/proc/sys``, owned by the host or a namespace during one boot.

vm.dirty_ratio and vm.dirty_bytes are one number in two forms, and so are two other pairs: a write
to one makes the other 0. A change of one therefore covers both, and restores both. The kernel
accepts no 0 for an amount, so the percentage is written to clear it. If that is 0 already, the
kernel clears the amount for the background pair only. iostudy refuses a host with 0 in both forms
of another pair beforehand.

Source: dirty_ratio_handler() and its neighbours in mm/page-writeback.c, overcommit_ratio_handler()
in mm/util.c; proc_dointvec() and others in kernel/sysctl.c.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from iostudy.errors import SettingError, TargetError
from iostudy.host.files import ROOT
from iostudy.host.namespaces import Namespace
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeChange, Attributes, AttributeSetting
from iostudy.settings.change import Record, SettingKind
from iostudy.settings.definitions.sysctl import SysctlDefinition
from iostudy.settings.identity import boot_id, end_of_namespace
from iostudy.settings.kinds.host_files import HostFiles
from iostudy.settings.sysctl_keys import (
    COUNTERPARTS,
    RATIO_OF,
    find_namespace,
    irreversibility_reason,
    key_path,
    normalise_blanks,
)

_BYTES = "vm.dirty_bytes"
_ROOM = 2
"""A new limit must be this many times what is in use: others go on working meanwhile."""


@dataclass(frozen=True)
class Sysctls(HostFiles):
    """The files below ``/proc/sys``, each an attribute by its key.

    A ``namespace`` has values of its own, which its processes alone see.
    """

    kind: ClassVar[str] = "sysctl"

    namespace: Namespace | None = None

    @classmethod
    def find(cls, key: str) -> Self:
        """Return the owner of a key as this process sees it."""
        kind = find_namespace(key)
        return cls(boot_id(), Namespace.current(kind) if kind else None)

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Rebuild from the journal; older versions recorded no namespace."""
        kept = record.get("namespace")
        return cls(**{**record, "namespace": Namespace(**kept) if kept else None})

    def absence_reason(self) -> str | None:
        """Return why the values are gone; OutOfReachError if another namespace has them."""
        reason = super().absence_reason()
        return reason or end_of_namespace(self.namespace, "to restore a sysctl", self.name)

    def matching(self, pattern: str) -> tuple[str, ...]:
        needed = stat.S_IRUSR | stat.S_IWUSR
        try:
            mode = self.path(pattern).stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return (pattern,) if stat.S_ISREG(mode) and mode & needed == needed else ()

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Amounts before percentages, so that never both are 0 on the way to an amount."""
        return sorted(attributes, key=lambda key: (key not in RATIO_OF, key))

    def read(self, attribute: str) -> str | None:
        try:
            text = super().read(attribute)
        except OSError as error:
            raise SettingError(
                f"to read {attribute}",
                found=error.strerror or str(error),
                where=self.location(attribute),
                remedy="run as root, unless it can only be written: `ls -l` shows it",
            ) from error
        return None if text is None else normalise_blanks(text)

    def write(self, attribute: str, value: str) -> None:
        """Write one value as sysctl(8) does; an amount of 0 through the percentage.

        Of a pair, an unchanged value is not written, because that would clear the other
        one.
        """
        if attribute in COUNTERPARTS and self.read(attribute) == value:
            return
        ratio = RATIO_OF.get(attribute) if value == "0" else None
        if ratio is not None:
            attribute, value = ratio, self.read(ratio) or value
        # With its newline an empty text is a write, too.
        super().write(attribute, f"{value}\n")

    def path(self, attribute: str) -> Path:
        return ROOT / "proc/sys" / key_path(attribute)


@dataclass(frozen=True)
class SysctlSetting(AttributeSetting):
    """A sysctl of this host."""

    definition: SysctlDefinition


def bind(definition: SysctlDefinition, place: str) -> tuple[SysctlSetting, ...]:
    """Return the host's setting for any place; TargetError if the kernel has none."""
    owner = Sysctls.find(definition.key)
    if not owner.path(definition.key).is_file():
        replaced = f"use {definition.replaced_by}; " if definition.replaced_by else ""
        raise TargetError(
            f"the sysctl {definition.key}",
            found="this kernel has none of that name",
            where=owner.location(definition.key),
            remedy=f"{replaced}see `sysctl -a` for all there are; some come with a kernel module",
        )
    return (SysctlSetting(definition, owner, definition.key),)


def changes(wanted: Mapping[SysctlSetting, str]) -> tuple[AttributeChange, ...]:
    """Return one change per owner; SettingError before any write for irreversible values."""
    keys = {setting.attribute: value for setting, value in wanted.items()}
    for setting, value in wanted.items():
        _refuse_without_return(setting)
        _refuse_two_forms(setting, keys)
        _refuse_below_use(setting, value)
    return attributes.prepare_changes(wanted, _prepare_change)


def _prepare_change(
    owner: Attributes,
    after: Mapping[str, str],
    settings: Mapping[str, str],
    unproven: tuple[str, ...],
) -> AttributeChange:
    """Prepare a change that clears the counterparts that this kernel has as well."""
    counterparts = (COUNTERPARTS[key] for key in after if key in COUNTERPARTS)
    cleared = {key: "0" for key in counterparts if owner.matching(key)}
    return AttributeChange.prepare(owner, {**cleared, **after}, settings, unproven)


KIND = SettingKind(SysctlDefinition, bind, changes)


def _refuse_without_return(setting: SysctlSetting) -> None:
    key = setting.attribute
    why = irreversibility_reason(key)
    if why is None and not setting.owner.matching(key):
        why = "it cannot be both read and written"
    if (
        why is None
        and key == _BYTES
        and all(setting.owner.read(k) == "0" for k in (_BYTES, RATIO_OF[_BYTES]))
    ):
        why = f"{_BYTES} and {RATIO_OF[_BYTES]} are both 0, which the kernel cannot go back to"
    if why is not None:
        raise SettingError(
            f"to change {setting.label} for a while",
            found=f"{why}, so iostudy could not restore it",
            where=setting.owner.location(key),
            remedy="leave it out, and set it yourself if it is to stay",
        )


def _refuse_two_forms(setting: SysctlSetting, wanted: Mapping[str, str]) -> None:
    other = COUNTERPARTS.get(setting.attribute)
    if other in wanted:
        raise SettingError(
            f"{setting.attribute} and {other} at once",
            found="they are one number in two forms: to write one clears the other",
            where=setting.owner.location(setting.attribute),
            remedy="set one of them",
        )


def _refuse_below_use(setting: SysctlSetting, value: str) -> None:
    """A limit that is lowered must leave others what they have open, and as much again."""
    counter = setting.definition.in_use
    in_use = setting.owner.read(counter) if counter else None
    if in_use is None:
        return
    taken = int(in_use.split()[0])
    if int(value) < min(int(setting.read()), _ROOM * taken):
        raise SettingError(
            f"{setting.label} = {value}",
            found=f"{taken} are in use now ({counter}); other processes would fail",
            where=setting.owner.location(setting.attribute),
            remedy=f"choose {_ROOM * taken} or more",
        )
