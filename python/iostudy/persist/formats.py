"""Assignment of settings to formats, and the plan over all formats."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

from iostudy import plugins
from iostudy.core import registered
from iostudy.host.files import ROOT
from iostudy.host.mounts import find_mount
from iostudy.persist import ansible as role
from iostudy.persist import fstab, limits, sysctl, tmpfiles, tuned, udev
from iostudy.persist.plan import PersistencePlan, UnsupportedSetting, add_provenance
from iostudy.persist.request import DiskMatch, PersistedSetting, PersistRequest
from iostudy.persist.tmpfiles import ATTRIBUTE
from iostudy.settings import catalog
from iostudy.settings.definitions.declared import (
    VALUE,
    CommandDefinition,
    DeclaredDefinition,
    TextFileDefinition,
    fill,
)


class Format(StrEnum):
    """A form that configuration can have; plugins add theirs (`PluginFormat`)."""

    UDEV = "udev"
    SYSCTL = "sysctl"
    FSTAB = "fstab"
    LIMITS = "limits"
    TUNED = "tuned"
    ANSIBLE = "ansible"


_KEPT_KINDS = {
    Format.UDEV: "block.*",
    Format.SYSCTL: "sysctl.* and files of /sys, such as thp.*",
    Format.FSTAB: "mount.*",
    Format.LIMITS: "limit.*",
    Format.TUNED: "block.*, sysctl.* and files of /sys, such as thp.*",
    Format.ANSIBLE: "block.*, sysctl.*, files of /sys such as thp.*, mount.* and limit.*",
}

_EMPTY_ROOT = Path(os.devnull)
"""The root of an unconfigured host."""

Planner = Callable[[Sequence[PersistedSetting], PersistRequest, Path], PersistencePlan]


@dataclass(frozen=True)
class PluginFormat:
    """How settings that begin with the format's name are kept, but not on this host.

    - ``reason``, ``remedy``: why no file of this host holds them, and what to do instead
    - ``plan``: a function of settings, their origin and its evidence; None if nothing keeps them
    - ``what``, ``use``: what the format writes, and what to do with it
    - ``undo``: how to undo it
    """

    reason: str
    remedy: str
    plan: Callable[[Sequence[PersistedSetting], str, Sequence[str]], PersistencePlan] | None = None
    what: str = ""
    use: str = ""
    undo: str = ""


@cache
def list_plugin_formats() -> Mapping[str, PluginFormat]:
    """Return the formats of plugins by name."""
    groups = (plugin.formats.items() for plugin in registered())
    return {name: plugins.load(ref) for formats in groups for name, ref in formats}


@dataclass(frozen=True)
class _Native:
    """Format for settings of a kind: the first part of a name, or ATTRIBUTE."""

    form: Format
    kind: str
    plan: Planner


_FILES = (
    _Native(Format.UDEV, "block", udev.plan),
    _Native(Format.SYSCTL, "sysctl", sysctl.plan),
    _Native(Format.SYSCTL, ATTRIBUTE, tmpfiles.plan),
    _Native(Format.LIMITS, "limit", limits.plan),
)
"""Formats that write files of their own."""
_FSTAB = _Native(Format.FSTAB, "mount", lambda kept, _, root: fstab.plan(kept, root))
_NATIVES = (*_FILES, _FSTAB)
_FORM = {native.kind: native.form for native in _NATIVES}

_UNSUPPORTED_KINDS = {
    "bdi": (
        "a mount without a block device has another number each time, so no rule can know it",
        "set [nfsrahead] in /etc/nfs.conf (nfs-utils 2.6), or block.read_ahead_kb of a disk",
    ),
    "cgroup": (
        "it held for the workload's own cgroup",
        "give the service IOReadBandwidthMax=, IOWeight= ... (systemd.resource-control(5))",
    ),
    "filesystem": ("a file system has it from mkfs on", "give it when you make the file system"),
    "volume": ("a volume has it from its creation on", "give it to lvcreate or mdadm"),
}
"""Kind -> why nothing can hold it, and what to do instead."""
_UNKNOWN = ("no configuration of the system holds it", "set it where the program is started")

_UNDO_INSTALLED = (
    "Undo: remove this file, or rename its backup FILE.iostudy-TIME to it; "
    "the earlier values return at the next boot."
)
_UNDO: Mapping[str, str] = {
    Format.TUNED: "Undo: activate another profile with tuned-adm, then remove this file.",
    Format.ANSIBLE: "Undo: the README.md of this role says what to remove from the hosts.",
}
"""How to undo files of a format, where it is more than to remove the file."""


def names() -> tuple[str, ...]:
    """Return the names of all formats."""
    return (*Format, *(name for name, form in list_plugin_formats().items() if form.plan))


def describe_printed() -> Mapping[str, tuple[str, str]]:
    """Return the formats that are only printed, with what they are and what to do with it."""
    role = ("an Ansible role", "write it with --out and use it in a playbook")
    others = {name: (form.what, form.use) for name, form in list_plugin_formats().items()}
    return {Format.ANSIBLE: role, **{name: others[name] for name in names() if name in others}}


def describe_kept(form: str) -> str:
    """Return the settings that a format can keep."""
    return _KEPT_KINDS[Format(form)] if form in _KEPT_KINDS else f"{form}.*"


def plan(choice: PersistRequest, form: str | None, root: Path = ROOT) -> PersistencePlan:
    """Return all files that keep the choice in that format; None stands for each native one."""
    formats = list_plugin_formats().items()
    undo = {**_UNDO, **{name: plugin_format.undo for name, plugin_format in formats}}
    choice = replace(choice, provenance=(*choice.provenance, undo.get(form or "", _UNDO_INSTALLED)))
    planned = _plan_format(choice, form, root)
    files = tuple(add_provenance(file, choice.provenance) for file in planned.artifacts)
    return replace(planned, artifacts=files)


def _plan_format(choice: PersistRequest, form: str | None, root: Path) -> PersistencePlan:
    result = PersistencePlan(notes=choice.notes)
    unsupported = _exclude_unsupported(choice.settings)
    match form:
        case Format.TUNED:
            return result + _profile(choice, root) + unsupported
        case Format.ANSIBLE:
            return result + _role(choice, root) + unsupported + _exclude_from_host(choice)
        case str() if (plugin := list_plugin_formats().get(form)) and plugin.plan:
            kept = [setting for setting in choice.settings if _kind(setting) == form]
            files = plugin.plan(kept, choice.origin, choice.provenance)
            return result + files + _exclude_other_formats(choice.settings, form) + unsupported
    natives = [native for native in _NATIVES if form in (None, native.form)]
    files = sum((_plan_native(native, choice, root) for native in natives), PersistencePlan())
    others = _exclude_other_formats(choice.settings, form)
    from_host = _exclude_from_host(choice) if form is None else PersistencePlan()
    return result + files + others + unsupported + from_host


def _plan_native(native: _Native, choice: PersistRequest, root: Path) -> PersistencePlan:
    kept = _select_settings(native, choice)
    # A file that receives no setting need not be readable.
    return native.plan(kept, choice, root) if kept else PersistencePlan()


def _select_settings(native: _Native, choice: PersistRequest) -> list[PersistedSetting]:
    return [setting for setting in choice.settings if _kind(setting) == native.kind]


def _exclude_from_host(choice: PersistRequest) -> PersistencePlan:
    """Exclude settings of plugins' formats from a configuration of this host."""
    forms = {name: form for name, form in list_plugin_formats().items() if form.plan}
    pairs = ((setting.text, forms.get(_kind(setting))) for setting in choice.settings)
    excluded = (UnsupportedSetting(text, f.reason, f.remedy) for text, f in pairs if f)
    return PersistencePlan(unsupported=tuple(excluded))


def _profile(choice: PersistRequest, root: Path) -> PersistencePlan:
    """The profile; it knows disks by their identity only, so a class of them is not kept."""
    one_disk = choice.match is DiskMatch.SERIAL
    kinds = tuned.KINDS if one_disk else tuple(kind for kind in tuned.KINDS if kind != "block")
    held = [setting for setting in choice.settings if _kind(setting) in kinds]
    others = [setting for setting in choice.settings if _kind(setting) not in kinds]
    return tuned.plan(held, choice.origin, root) + _exclude_other_formats(others, Format.TUNED)


def _role(choice: PersistRequest, root: Path) -> PersistencePlan:
    """The role; what the files of this host say already does not matter to other hosts."""
    files = sum((_plan_native(n, choice, _EMPTY_ROOT) for n in _FILES), PersistencePlan())
    edits, result = fstab.plan_edits(_select_settings(_FSTAB, choice), root)
    unkept = PersistencePlan(unsupported=files.unsupported, notes=files.notes) + result
    refused = {unsupported.what for unsupported in files.unsupported}
    kept = [s for n in _FILES for s in _select_settings(n, choice) if s.text not in refused]
    if not kept and not edits:
        return unkept
    return unkept + PersistencePlan(artifacts=role.build_role(kept, edits, choice))


def _exclude_other_formats(kept: Iterable[PersistedSetting], form: str | None) -> PersistencePlan:
    """Return the settings of other formats than the requested one."""
    others = {k: _find_form(k) or form for k in kept if form is not None}
    result = (
        UnsupportedSetting(k.text, f"--format {form} cannot hold it", f"use --format {other}")
        for k, other in others.items()
        if other != form
    )
    return PersistencePlan(unsupported=tuple(result))


def _exclude_unsupported(kept: Iterable[PersistedSetting]) -> PersistencePlan:
    """Return the settings that no format supports."""
    others = {name: (form.reason, form.remedy) for name, form in list_plugin_formats().items()}
    reasons = _UNSUPPORTED_KINDS | others
    return PersistencePlan(
        unsupported=tuple(
            explain(k) or UnsupportedSetting(k.text, *reasons.get(_kind(k), _UNKNOWN))
            for k in kept
            if _find_form(k) is None
        )
    )


def _find_form(setting: PersistedSetting) -> str | None:
    """Return the name of the format of a setting; None if nothing can hold it."""
    kind = _kind(setting)
    form = list_plugin_formats().get(kind)
    return kind if form and form.plan else _FORM.get(kind)


def _kind(setting: PersistedSetting) -> str:
    """Return the family of a plugin's setting, ATTRIBUTE, or the first part of the name."""
    if tmpfiles.find_path(setting.name):
        return ATTRIBUTE
    families = (name for name in list_plugin_formats() if setting.name.startswith(f"{name}."))
    return next(families, setting.name.partition(".")[0])


def explain(setting: PersistedSetting) -> UnsupportedSetting | None:
    """Return what a person has to do for a declared setting; None for any other one."""
    definition = catalog.find(setting.name)
    if not isinstance(definition, DeclaredDefinition):
        return None
    if isinstance(definition, TextFileDefinition):
        section = f" in section [{definition.section}]" if definition.section else ""
        line = f"{definition.key}{definition.separator}{setting.value}"
        effect = f", then run {shlex.join(definition.after)}" if definition.after else ""
        remedy = f"write {line} into {definition.file}{section}{effect}"
        return UnsupportedSetting(setting.text, "its file belongs to another program", remedy)
    command = definition.persist
    if not command and isinstance(definition, CommandDefinition):
        command = shlex.join(definition.write)
    if not command:
        return None
    placed = fill(command, _placeholders(setting)).replace(f"'{VALUE}'", VALUE)
    placed = placed.replace(VALUE, shlex.quote(setting.value))
    return UnsupportedSetting(setting.text, "a command keeps it", f"run {placed}")


def _placeholders(setting: PersistedSetting) -> list[tuple[str, str]]:
    if setting.disk is not None:
        name = setting.disk.here or setting.disk.name
        return [("name", name), ("path", f"/dev/{name}")]
    if setting.mount_point is not None:
        return [
            ("mount", str(setting.mount_point)),
            ("source", find_mount(Path(setting.mount_point)).source),
        ]
    return []
