"""Assignment of settings to formats, and the plan over all formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy.host.files import ROOT
from iostudy.persist import ansible, fstab, hadoop, limits, sysctl, tmpfiles, tuned, udev
from iostudy.persist.plan import Artifact, PersistencePlan, UnsupportedSetting, merge_plans
from iostudy.persist.request import PersistedSetting, PersistRequest


class Format(StrEnum):
    """A form that configuration can have."""

    UDEV = "udev"
    SYSCTL = "sysctl"
    FSTAB = "fstab"
    LIMITS = "limits"
    TUNED = "tuned"
    ANSIBLE = "ansible"
    HADOOP = "hadoop"


PLAYBOOK = Path("/iostudy.yml")
"""Stands for the playbook, which has no path of its own on a host."""

NOT_INSTALLED = {
    Format.ANSIBLE: ("a playbook", "run it by ansible-playbook"),
    Format.HADOOP: ("site files of a Hadoop cluster", "merge them where the cluster is configured"),
}
"""Formats that are only printed: their name and their use."""

_EMPTY_ROOT = Path(os.devnull)
"""The root of an unconfigured host."""

Planner = Callable[[Sequence[PersistedSetting], str, Path], PersistencePlan]


@dataclass(frozen=True)
class _Native:
    """Format for settings of some kinds; a kind is the first part of a setting's name."""

    form: Format
    kinds: tuple[str, ...]
    plan: Planner


_FILES = (
    _Native(Format.UDEV, ("block",), udev.plan),
    _Native(Format.SYSCTL, ("sysctl",), sysctl.plan),
    _Native(Format.SYSCTL, ("thp", "cpu"), tmpfiles.plan),
    _Native(Format.LIMITS, ("limit",), limits.plan),
)
"""Formats that write files of their own."""
_FSTAB = _Native(Format.FSTAB, ("mount",), lambda kept, _, root: fstab.plan(kept, root))
_NATIVES = (*_FILES, _FSTAB)
_FORM = {kind: native.form for native in _NATIVES for kind in native.kinds}
_FORM[hadoop.KIND] = Format.HADOOP

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
}
"""Kind -> why nothing can hold it, and what to do instead."""
_UNKNOWN = ("no configuration of the system holds it", "set it where the program is started")


def plan(choice: PersistRequest, form: Format | None, root: Path = ROOT) -> PersistencePlan:
    """Return all files that keep the choice in that format; None stands for each native one."""
    result = PersistencePlan(notes=choice.notes)
    match form:
        case Format.TUNED:
            return result + _profile(choice, root) + _exclude_unsupported(choice.settings)
        case Format.ANSIBLE:
            clusters = hadoop.exclude_from_host(_clusters(choice))
            return (
                result + _playbook(choice, root) + _exclude_unsupported(choice.settings) + clusters
            )
        case Format.HADOOP:
            clusters = hadoop.plan(_clusters(choice), choice.origin)
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
    return native.plan(kept, choice.origin, root) if kept else PersistencePlan()


def _select_settings(native: _Native, choice: PersistRequest) -> list[PersistedSetting]:
    return [setting for setting in choice.settings if _kind(setting) in native.kinds]


def _clusters(choice: PersistRequest) -> list[PersistedSetting]:
    """Select the settings of a Hadoop cluster."""
    return [setting for setting in choice.settings if _kind(setting) == hadoop.KIND]


def _profile(choice: PersistRequest, root: Path) -> PersistencePlan:
    held = [setting for setting in choice.settings if _kind(setting) in tuned.KINDS]
    others = [setting for setting in choice.settings if _kind(setting) not in tuned.KINDS]
    return tuned.plan(held, choice.origin, root) + _exclude_other_formats(others, Format.TUNED)


def _playbook(choice: PersistRequest, root: Path) -> PersistencePlan:
    files = merge_plans(_plan_native(native, choice, _EMPTY_ROOT) for native in _FILES)
    edits, result = fstab.plan_edits(_select_settings(_FSTAB, choice), root)
    unkept = PersistencePlan(unsupported=files.unsupported, notes=files.notes) + result
    if not files.artifacts and not edits:
        return unkept
    text = ansible.playbook(files.artifacts, edits, choice.origin)
    return unkept + PersistencePlan(artifacts=(Artifact(PLAYBOOK, None, text),))


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
            UnsupportedSetting(k.text, *_UNSUPPORTED_KINDS.get(_kind(k), _UNKNOWN)) for k in lost
        )
    )


def _kind(setting: PersistedSetting) -> str:
    return setting.name.partition(".")[0]
