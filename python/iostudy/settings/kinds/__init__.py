"""Registry of everything that acts on the host: setting kinds and journaled changes.

A new kind of setting is a file in `definitions` with a line in `iostudy.settings.catalog`, and a
file here with a line in `_CORE` and one for what a journal may hold: in `_OWNERS` if it is made of
attributes, else in `_CHANGES`. A plugin registers the same as `kinds`, `owners` and `changes`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from iostudy import plugins
from iostudy.core import find_undo, registered
from iostudy.errors import RestoreError, SettingError, UsageError
from iostudy.settings import catalog
from iostudy.settings.attributes import AttributeChange, Attributes
from iostudy.settings.change import Change, Record, Setting, SettingKind
from iostudy.settings.kinds import (
    attribute_file,
    bdi,
    cgroup,
    command,
    filesystem,
    limit,
    mount,
    queue,
    sysctl,
    text_file,
    volume,
)
from iostudy.settings.kinds.declared import DeclaredChange
from iostudy.settings.mounting.owners import FileSystemOptions, MountFlags
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.settings.switching import SwitchedAttributes
from iostudy.settings.temporary_mount import TemporaryMount
from iostudy.settings.trace_instance import TraceInstance
from iostudy.settings.work_folder import WorkFolder

_CORE: tuple[SettingKind[Any, Any], ...] = (
    queue.KIND,
    bdi.KIND,
    attribute_file.KIND,  # before sysctl.KIND: huge pages move vm.min_free_kbytes
    sysctl.KIND,
    mount.KIND,
    limit.KIND,
    cgroup.KIND,
    filesystem.KIND,
    volume.KIND,
    command.KIND,
    text_file.KIND,
)

_OWNERS: dict[str, Callable[[Record], Attributes]] = {
    queue.Queue.kind: queue.Queue.from_record,
    bdi.BackingDevice.kind: bdi.BackingDevice.from_record,
    sysctl.Sysctls.kind: sysctl.Sysctls.from_record,
    MountFlags.kind: MountFlags.from_record,
    FileSystemOptions.kind: FileSystemOptions.from_record,
    limit.Limits.kind: limit.Limits.from_record,
}

_DECLARED = {
    owner.kind: owner.from_record
    for owner in (attribute_file.AttributeFiles, command.CommandOwner, text_file.TextFile)
}

_CHANGES: dict[str, Callable[[Record], Change]] = {
    LoopbackDisk.kind: LoopbackDisk.from_record,
    ScratchDevice.kind: ScratchDevice.from_record,
    Volume.kind: Volume.from_record,
    NewFilesystem.kind: NewFilesystem.from_record,
    cgroup.TrialGroup.kind: cgroup.TrialGroup.from_record,
    TraceInstance.kind: TraceInstance.from_record,
    WorkFolder.kind: WorkFolder.from_record,
    TemporaryMount.kind: TemporaryMount.from_record,
}


@cache
def all_kinds() -> tuple[SettingKind[Any, Any], ...]:
    """Return the kinds of settings of the core and of plugins."""
    others = (plugins.load(ref) for plugin in registered() for ref in plugin.kinds.values())
    return (*_CORE, *others)


def bind(name: str, place: str | Path) -> tuple[Setting, ...]:
    """Bind the setting at ``place``: a path, a device node or a device name.

    Several results if several disks make up one level below ``place``; all get the same value.
    KeyError for an unknown name, TargetError if there is no such place or setting.
    """
    definition = catalog.get(name)
    (kind,) = (kind for kind in all_kinds() if isinstance(definition, kind.definition))
    return kind.bind(definition, os.fspath(place))


def prepare_changes(wanted: Mapping[Setting, str]) -> tuple[Change, ...]:
    """Prepare all changes that give the settings their values; reads the current values.

    SettingError if a setting cannot be changed. Values must have passed ``definition.parse``.
    """
    return tuple(
        change
        for kind in all_kinds()
        for change in kind.changes(
            {s: value for s, value in wanted.items() if isinstance(s.definition, kind.definition)}
        )
    )


def prepare_switching(levels: Sequence[Mapping[Setting, str]]) -> tuple[SwitchedAttributes, ...]:
    """Prepare one change per owner that can be switched among the levels, the first one first.

    SettingError if a setting cannot be changed, or not while a workload runs.
    """
    for setting in (setting for level in levels for setting in level):
        switching = setting.definition.switching
        if not switching.is_possible:
            raise SettingError(
                f"to switch {setting.label} while a workload runs",
                found=switching.obstacle,
                where=setting.label,
                remedy="compare its levels by whole trials: `decide: {mode: trials}`",
            )
    prepared = [
        {
            change.owner: change
            for change in prepare_changes(level)
            if isinstance(change, AttributeChange)
        }
        for level in levels
    ]
    owners = dict.fromkeys(owner for level in prepared for owner in level)
    return tuple(
        SwitchedAttributes.join(owner, [level.get(owner) for level in prepared]) for owner in owners
    )


def rebuild_change(kind: str, record: Record) -> Change:
    """Rebuild the change of a journal entry; RestoreError for another version."""
    try:
        if kind in _DECLARED:
            return DeclaredChange.from_record(_DECLARED[kind], record)
        if kind in _CHANGES:
            return _CHANGES[kind](record)
        undo, owner = ("", "") if kind in _OWNERS else find_undo(kind)
        if undo:
            change: Change = plugins.load(undo).from_record(record)
            return change
        build = plugins.load(owner).from_record if owner else _OWNERS[kind]
        attributes = SwitchedAttributes if "levels" in record else AttributeChange
        return attributes.from_record(build, record)
    except (KeyError, TypeError, ValueError, AttributeError, ImportError, UsageError) as error:
        raise RestoreError(
            f"to undo a change of the kind {kind}",
            found="a kind or a record that this version of iostudy does not know",
            where="the journal",
            remedy=plugins.find_missing(kind)
            or (error.remedy if isinstance(error, UsageError) else "")
            or "run `iostudy restore` of the version that made the change",
        ) from error
