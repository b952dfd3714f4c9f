"""Assignment of settings to formats, and the plan over all formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy.host.files import ROOT
from iostudy.persist import ansible as role
from iostudy.persist import declared, fstab, hadoop, limits, sysctl, tmpfiles, tuned, udev
from iostudy.persist.plan import PersistencePlan, UnsupportedSetting, add_provenance, merge_plans
from iostudy.persist.request import DiskMatch, PersistedSetting, PersistRequest
from iostudy.persist.tmpfiles import ATTRIBUTE


class Format(StrEnum):
    """A form that configuration can have."""

    UDEV = "udev"
    SYSCTL = "sysctl"
    FSTAB = "fstab"
    LIMITS = "limits"
    TUNED = "tuned"
    ANSIBLE = "ansible"
    HADOOP = "hadoop"


NOT_INSTALLED = {
    Format.ANSIBLE: ("an Ansible role", "write it with --out and use it in a playbook"),
    Format.HADOOP: ("site files of a Hadoop cluster", "merge them where the cluster is configured"),
}
"""Formats that are only printed: their name and their use."""

KEPT_KINDS = {
    Format.UDEV: "block.*",
    Format.SYSCTL: "sysctl.* and files of /sys, such as thp.*",
    Format.FSTAB: "mount.*",
    Format.LIMITS: "limit.*",
    Format.TUNED: "block.*, sysctl.* and files of /sys, such as thp.*",
    Format.ANSIBLE: "block.*, sysctl.*, files of /sys such as thp.*, mount.* and limit.*",
    Format.HADOOP: "hadoop.*",
}
"""The settings that each format can keep."""

_EMPTY_ROOT = Path(os.devnull)
"""The root of an unconfigured host."""

Planner = Callable[[Sequence[PersistedSetting], PersistRequest, Path], PersistencePlan]


@dataclass(frozen=True)
class _Native:
    """Format for settings of some kinds: the first part of a name, or ATTRIBUTE."""

    form: Format
    kinds: tuple[str, ...]
    plan: Planner


def _plan_udev(
    kept: Sequence[PersistedSetting], choice: PersistRequest, root: Path
) -> PersistencePlan:
    return udev.plan(kept, choice.origin, root, choice.match, choice.present)


_FILES = (
    _Native(Format.UDEV, ("block",), _plan_udev),
    _Native(
        Format.SYSCTL, ("sysctl",), lambda kept, own, root: sysctl.plan(kept, own.origin, root)
    ),
    _Native(
        Format.SYSCTL,
        (ATTRIBUTE,),
        lambda kept, own, root: tmpfiles.plan(kept, own.origin, root),
    ),
    _Native(Format.LIMITS, ("limit",), lambda kept, own, root: limits.plan(kept, own.origin, root)),
)
"""Formats that write files of their own."""
_FSTAB = _Native(Format.FSTAB, ("mount",), lambda kept, _, root: fstab.plan(kept, root))
_NATIVES = (*_FILES, _FSTAB)
_FORM = {kind: native.form for native in _NATIVES for kind in native.kinds}
_FORM[hadoop.KIND] = Format.HADOOP

_HDFS_MOUNT = "mount.hdfs"
_UNSUPPORTED_KINDS = {
    _HDFS_MOUNT: (
        "the server of the mount has it as long as it runs",
        "give it to `iostudy mount` as an option",
    ),
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
_UNDO: dict[Format | None, str] = {
    Format.TUNED: "Undo: activate another profile with tuned-adm, then remove this file.",
    Format.ANSIBLE: "Undo: the README.md of this role says what to remove from the hosts.",
    Format.HADOOP: "Undo: remove these properties from the cluster's file and restart it.",
}
"""How to undo files of a format, where it is more than to remove the file."""


def plan(choice: PersistRequest, form: Format | None, root: Path = ROOT) -> PersistencePlan:
    """Return all files that keep the choice in that format; None stands for each native one."""
    choice = replace(choice, provenance=(*choice.provenance, _UNDO.get(form, _UNDO_INSTALLED)))
    planned = _plan_format(choice, form, root)
    files = tuple(add_provenance(file, choice.provenance) for file in planned.artifacts)
    return replace(planned, artifacts=files)


def _plan_format(choice: PersistRequest, form: Format | None, root: Path) -> PersistencePlan:
    result = PersistencePlan(notes=choice.notes)
    match form:
        case Format.TUNED:
            return result + _profile(choice, root) + _exclude_unsupported(choice.settings)
        case Format.ANSIBLE:
            clusters = hadoop.exclude_from_host(_clusters(choice))
            return result + _role(choice, root) + _exclude_unsupported(choice.settings) + clusters
        case Format.HADOOP:
            clusters = hadoop.plan(_clusters(choice), choice.origin, choice.provenance)
            return (
                result
                + clusters
                + _exclude_other_formats(choice.settings, form)
                + _exclude_unsupported(choice.settings)
            )
        case None | Format.UDEV | Format.SYSCTL | Format.FSTAB | Format.LIMITS:
            natives = [native for native in _NATIVES if form in (None, native.form)]
            files = merge_plans(_plan_native(native, choice, root) for native in natives)
            clusters = hadoop.exclude_from_host(_clusters(choice) if form is None else ())
            return (
                result
                + files
                + _exclude_other_formats(choice.settings, form)
                + _exclude_unsupported(choice.settings)
                + clusters
            )
        case unreachable:
            assert_never(unreachable)


def _plan_native(native: _Native, choice: PersistRequest, root: Path) -> PersistencePlan:
    kept = _select_settings(native, choice)
    # A file that receives no setting need not be readable.
    return native.plan(kept, choice, root) if kept else PersistencePlan()


def _select_settings(native: _Native, choice: PersistRequest) -> list[PersistedSetting]:
    return [setting for setting in choice.settings if _kind(setting) in native.kinds]


def _clusters(choice: PersistRequest) -> list[PersistedSetting]:
    """Select the settings of a Hadoop cluster."""
    return [setting for setting in choice.settings if _kind(setting) == hadoop.KIND]


def _profile(choice: PersistRequest, root: Path) -> PersistencePlan:
    """The profile; it knows disks by their identity only, so a class of them is not kept."""
    one_disk = choice.match is DiskMatch.SERIAL
    kinds = tuned.KINDS if one_disk else tuple(kind for kind in tuned.KINDS if kind != "block")
    held = [setting for setting in choice.settings if _kind(setting) in kinds]
    others = [setting for setting in choice.settings if _kind(setting) not in kinds]
    return tuned.plan(held, choice.origin, root) + _exclude_other_formats(others, Format.TUNED)


def _role(choice: PersistRequest, root: Path) -> PersistencePlan:
    """The role; what the files of this host say already does not matter to other hosts."""
    files = merge_plans(_plan_native(native, choice, _EMPTY_ROOT) for native in _FILES)
    edits, result = fstab.plan_edits(_select_settings(_FSTAB, choice), root)
    unkept = PersistencePlan(unsupported=files.unsupported, notes=files.notes) + result
    refused = {unsupported.what for unsupported in files.unsupported}
    kept = [s for n in _FILES for s in _select_settings(n, choice) if s.text not in refused]
    if not kept and not edits:
        return unkept
    return unkept + PersistencePlan(artifacts=role.build_role(kept, edits, choice))


def _exclude_other_formats(
    kept: Iterable[PersistedSetting], form: Format | None
) -> PersistencePlan:
    """Return the settings of other formats than the requested one."""
    others = {k: _FORM.get(_kind(k), form) for k in kept if form is not None}
    result = (
        UnsupportedSetting(k.text, f"--format {form} cannot hold it", f"use --format {other}")
        for k, other in others.items()
        if other is not form
    )
    return PersistencePlan(unsupported=tuple(result))


def _exclude_unsupported(kept: Iterable[PersistedSetting]) -> PersistencePlan:
    """Return the settings that no format supports."""
    lost = (setting for setting in kept if _kind(setting) not in _FORM)
    return PersistencePlan(
        unsupported=tuple(
            declared.explain(k)
            or UnsupportedSetting(k.text, *_UNSUPPORTED_KINDS.get(_kind(k), _UNKNOWN))
            for k in lost
        )
    )


def _kind(setting: PersistedSetting) -> str:
    kind = ATTRIBUTE if tmpfiles.find_path(setting.name) else setting.name.partition(".")[0]
    return _HDFS_MOUNT if setting.name.startswith(f"{_HDFS_MOUNT}.") else kind
