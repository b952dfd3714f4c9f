"""Which format keeps which setting, and what all of them come to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy.host.files import ROOT
from iostudy.persist import ansible, fstab, hadoop, limits, sysctl, tmpfiles, tuned, udev
from iostudy.persist.kept import Choice, Kept
from iostudy.persist.rendered import Artifact, Rendered, Unkept, together


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
"""What stands for the playbook, which has no place of its own on a host."""

NOT_INSTALLED = {
    Format.ANSIBLE: ("a playbook", "run it by ansible-playbook"),
    Format.HADOOP: ("site files of a Hadoop cluster", "merge them where the cluster is configured"),
}
"""The formats that are only printed: what they are, and what is done with that."""

_BARE = Path(os.devnull)
"""The root of a host on which nothing is configured yet."""

Planner = Callable[[Sequence[Kept], str, Path], Rendered]


@dataclass(frozen=True)
class _Native:
    """What keeps the settings of some kinds: a kind is the first part of a setting's name."""

    form: Format
    kinds: tuple[str, ...]
    plan: Planner


_FILES = (
    _Native(Format.UDEV, ("block",), udev.plan),
    _Native(Format.SYSCTL, ("sysctl",), sysctl.plan),
    _Native(Format.SYSCTL, ("thp", "cpu"), tmpfiles.plan),
    _Native(Format.LIMITS, ("limit",), limits.plan),
)
"""Those that write files of their own."""
_FSTAB = _Native(Format.FSTAB, ("mount",), lambda kept, _, root: fstab.plan(kept, root))
_NATIVES = (*_FILES, _FSTAB)
_FORM = {kind: native.form for native in _NATIVES for kind in native.kinds}
_FORM[hadoop.KIND] = Format.HADOOP

_NEVER = {
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


def plan(choice: Choice, form: Format | None, root: Path = ROOT) -> Rendered:
    """Everything that keeping the choice in that format comes to; None is each native one."""
    told = Rendered(notes=choice.notes)
    match form:
        case Format.TUNED:
            return told + _profile(choice, root) + _never(choice.kept)
        case Format.ANSIBLE:
            clusters = hadoop.not_of_host(_clusters(choice))
            return told + _playbook(choice, root) + _never(choice.kept) + clusters
        case Format.HADOOP:
            clusters = hadoop.plan(_clusters(choice), choice.origin)
            return told + clusters + _elsewhere(choice.kept, form) + _never(choice.kept)
        case None | Format.UDEV | Format.SYSCTL | Format.FSTAB | Format.LIMITS:
            natives = [native for native in _NATIVES if form in (None, native.form)]
            files = together(_planned(native, choice, root) for native in natives)
            clusters = hadoop.not_of_host(_clusters(choice) if form is None else ())
            return told + files + _elsewhere(choice.kept, form) + _never(choice.kept) + clusters
        case unreachable:
            assert_never(unreachable)


def _planned(native: _Native, choice: Choice, root: Path) -> Rendered:
    kept = _of(native, choice)
    # Files that nothing is to be kept in need not be readable.
    return native.plan(kept, choice.origin, root) if kept else Rendered()


def _of(native: _Native, choice: Choice) -> list[Kept]:
    return [setting for setting in choice.kept if _kind(setting) in native.kinds]


def _clusters(choice: Choice) -> list[Kept]:
    """What is a Hadoop cluster's and not this host's."""
    return [setting for setting in choice.kept if _kind(setting) == hadoop.KIND]


def _profile(choice: Choice, root: Path) -> Rendered:
    held = [setting for setting in choice.kept if _kind(setting) in tuned.KINDS]
    others = [setting for setting in choice.kept if _kind(setting) not in tuned.KINDS]
    return tuned.plan(held, choice.origin, root) + _elsewhere(others, Format.TUNED)


def _playbook(choice: Choice, root: Path) -> Rendered:
    files = together(_planned(native, choice, _BARE) for native in _FILES)
    edits, told = fstab.edits(_of(_FSTAB, choice), root)
    unkept = Rendered(unkept=files.unkept, notes=files.notes) + told
    if not files.artifacts and not edits:
        return unkept
    text = ansible.playbook(files.artifacts, edits, choice.origin)
    return unkept + Rendered(artifacts=(Artifact(PLAYBOOK, None, text),))


def _elsewhere(kept: Iterable[Kept], form: Format | None) -> Rendered:
    """What another format keeps than the one that is asked for."""
    others = {k: _FORM.get(_kind(k), form) for k in kept if form is not None}
    told = (
        Unkept(k.text, f"--format {form} cannot hold it", f"use --format {other}")
        for k, other in others.items()
        if other is not form
    )
    return Rendered(unkept=tuple(told))


def _never(kept: Iterable[Kept]) -> Rendered:
    """What no format holds."""
    lost = (setting for setting in kept if _kind(setting) not in _FORM)
    return Rendered(unkept=tuple(Unkept(k.text, *_NEVER.get(_kind(k), _UNKNOWN)) for k in lost))


def _kind(setting: Kept) -> str:
    return setting.name.partition(".")[0]
