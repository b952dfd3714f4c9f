"""Expected levels and refusals of this host, for a check without changes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import assert_never

from iostudy.errors import BusyError, IostudyError, raise_together
from iostudy.folders import require_safe_directories, require_safe_target
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.node import target_devices
from iostudy.node.free_space import (
    FreeSpace,
    measure_free_space,
    require_space,
    smallest_free_space,
)
from iostudy.node.levels import Levels, lock_places
from iostudy.node.study_mounts import prepare_mounts, requested_mounts
from iostudy.node.target_storage import describe_account, may_be_foreign, named_paths
from iostudy.node.volume_members import prepare_members
from iostudy.safe_path import ROOT_UID
from iostudy.settings import catalog as settings
from iostudy.settings import kinds, places
from iostudy.settings.definition import Reach
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.drive import ModelledDrive
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.mkfs_dry_run import check_mkfs
from iostudy.settings.scratch.new_filesystem import require_tools
from iostudy.settings.scratch.volume.volume import require_support
from iostudy.settings.trace_instance import TraceInstance, usable_tracefs
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.cross_check import resolve_offered_levels
from iostudy.study.model import Study
from iostudy.study.requests import find_unmet_needs, list_directories
from iostudy.study.simulated import is_simulated
from iostudy.study.targets import (
    DirectoriesTarget,
    DirectoryTarget,
    DiskTarget,
    DriveTarget,
    HdfsTarget,
    LoopbackTarget,
    ScratchTarget,
    SimulatedTarget,
    Target,
    destroyed_devices,
    extra_filesystems,
    is_made,
)
from iostudy.study.volume_target import VolumeTarget

_ANY_LOOP_DEVICE = Path("/dev/loop0")


def with_expected_levels(study: Study) -> Study:
    """Fill in the levels that the host offers; return the study unchanged if they are unknown.

    Any loop device shows the levels of one that is not yet made. StudyError if the levels conflict
    with the rest of the study.
    """
    if is_simulated(study):
        return resolve_offered_levels(
            study, {f.name: settings.get(f.name).choices for f in study.awaiting_offer()}
        )
    if requested_mounts(study.target):
        return study
    levels = Levels(Transaction(), target_paths(study.target))
    try:
        offered = {f.name: levels.offered(f.name, f.on) for f in study.awaiting_offer()}
    except IostudyError:
        return study
    return resolve_offered_levels(study, offered)


def check_target(study: Study, folder: Path, *, unsafe_folders: bool) -> tuple[str, ...]:
    """Check target, settings and space without any change; return notes.

    ``folder`` is the output folder.

    Raises UnsafePathError for a directory that another user could redirect, which
    ``unsafe_folders`` waives; TargetError if the target is unusable, lacks a setting or has too
    little space;
    SettingError if a setting is missing on this host, unless the study omits refused values.
    """
    space = _free_space(study, folder)
    _require_makeable(study, space.free_bytes)
    spec = study.hadoop if study.needs_hadoop else None
    cluster_dirs = spec.dirs if spec else ()
    for directory in cluster_dirs:
        WorkFolder.prepare(directory)
    others = list_directories(study.workloads, study.configurations())
    require_safe_directories(cluster_dirs, insist=unsafe_folders)
    account = require_safe_target(
        (*target_paths(study.target), *others),
        insist=unsafe_folders,
        may_be_foreign=may_be_foreign(study.target, needs_cluster=study.needs_hadoop),
    )
    for factor in study.factors:
        if factor.kind is FactorKind.SETTING and not study.leave_out_refused:
            _check_setting(study, factor)
    if not study.awaiting_offer():
        require_space(study.workloads, study.configurations(), space, spec)
    return describe_account(account)


def find_lock_warnings(study: Study) -> tuple[str, ...]:
    """Return who uses the target now, or what the factors change; empty if nobody does."""
    own = () if is_made(study.target) or is_simulated(study) else target_paths(study.target)
    try:
        with lock_places(own, study.factors):
            return ()
    except BusyError as error:
        return (f"{error.found}: run it with --wait 10min ({error.where})",)


def require_programs(study: Study) -> None:
    """Raise one error with every program that this host lacks for the study."""
    raise_together((*_missing_tools(study), *_missing_programs(study)))


def _missing_programs(study: Study) -> Iterator[IostudyError]:
    target = named_paths(study.target, Path())
    return find_unmet_needs(study.workloads, study.known().configurations(), target)


def _missing_tools(study: Study) -> Iterator[IostudyError]:
    """An error for each file system that cannot be made."""
    if not isinstance(study.target, DiskTarget):
        return
    first = Filesystem(study.target.filesystem)
    varied = {first.with_settings(c.settings).type for c in study.known().configurations()}
    for kind in sorted(varied | set(extra_filesystems(study.target).values())):
        try:
            require_tools(kind)
        except IostudyError as error:
            yield error


def check_block_latency(study: Study) -> None:
    """Raise UsageError if the study traces block requests and this host cannot."""
    if not study.telemetry.block_latency:
        return
    if isinstance(study.target, DiskTarget):
        usable_tracefs()
    else:
        TraceInstance.prepare(
            target_devices.devices_with_queues(
                target_devices.device_names(*target_paths(study.target))
            )
        )


def _check_setting(study: Study, factor: Factor) -> None:
    """Check the places and conditions of a factor, if they exist before the run."""
    reach = settings.get(factor.name).reach
    if reach in (Reach.DISK, Reach.CLUSTER):
        return
    if reach.needs_place and _is_created_by_run(study.target, factor, reach):
        return
    found = Levels(Transaction(), target_paths(study.target)).bind(factor.name, factor.on)
    if factor.condition and factor.condition.name not in {f.name for f in study.factors}:
        for setting in found:
            setting.read()
    if reach is Reach.MOUNT and os.geteuid() == ROOT_UID:
        # The kernel checks an option without a change.
        for level in factor.levels:
            if level.value != AS_FOUND:
                kinds.prepare_changes(dict.fromkeys(found, level.value))


def _is_created_by_run(target: Target, factor: Factor, reach: Reach) -> bool:
    """Return whether the run creates the place of a factor: a loop device or a mount."""
    match target:
        case SimulatedTarget():
            return True
        case LoopbackTarget() | DriveTarget():
            return not factor.on
        case VolumeTarget() if is_made(target):
            return not factor.on
        case ScratchTarget() | VolumeTarget():
            own = {
                found for path in destroyed_devices(target) for found in stack.find_devices(path)
            }
            on = places.resolve_places(factor.on)
            return reach is Reach.MOUNT and all(_is_among(own, place) for place in on)
        case DirectoriesTarget():
            points = [own.point for own in requested_mounts(target)]
            return bool(points) and all(_is_below(points, place) for place in factor.on)
        case DirectoryTarget() | HdfsTarget():
            return False
        case unreachable:
            assert_never(unreachable)


def _is_below(points: Collection[Path], place: str) -> bool:
    return any(Path(place).is_relative_to(point) for point in points)


def _is_among(devices: set[BlockDevice], place: str) -> bool:
    """Return whether a place of a factor is one of the devices, not a directory on it."""
    is_directory = Path(place).is_dir()
    return not is_directory and devices.issuperset(stack.find_devices(place))


def _require_makeable(study: Study, size_bytes: int | None) -> None:
    """Raise TargetError if a file system of the study lacks its tool or does not fit its disk."""
    if not isinstance(study.target, DiskTarget) or size_bytes is None:
        return
    first = Filesystem(study.target.filesystem)
    varied = {first.with_settings(c.settings) for c in study.configurations()}
    for filesystem in varied | set(map(Filesystem, extra_filesystems(study.target).values())):
        require_tools(filesystem.type)
        check_mkfs(filesystem, size_bytes)


def _free_space(study: Study, folder: Path) -> FreeSpace:
    """Return the free space on the target; for a new disk, its size. TargetError if unusable."""
    where = study.describe_target()
    match study.target:
        case LoopbackTarget(size_bytes, filesystem, further_disks):
            LoopbackDisk.prepare_several(folder, size_bytes, 1 + len(further_disks))
            for each in (filesystem, *further_disks.values()):
                require_tools(each)
            return FreeSpace(where, size_bytes)
        case DriveTarget(size_bytes=size_bytes, filesystem=filesystem, models=models):
            ModelledDrive.prepare_several(folder, models, size_bytes)
            require_tools(filesystem)
            return FreeSpace(where, size_bytes)
        case ScratchTarget(device, filesystem):
            ScratchDevice.prepare(device, folder)
            require_tools(filesystem)
            return FreeSpace(where, stack.find_devices(device)[0].size_bytes)
        case VolumeTarget() as target:
            return _free_space_on_volume(study, target, folder)
        case DirectoryTarget(path):
            WorkFolder.prepare(path or folder)
            return measure_free_space(where, path or folder)
        case DirectoriesTarget():
            return _free_space_in_directories(where, study.target)
        case SimulatedTarget(size_bytes=size_bytes):
            return FreeSpace(where, size_bytes)
        case HdfsTarget():
            WorkFolder.prepare(folder)
            return FreeSpace(where, None)
        case unreachable:
            assert_never(unreachable)


def _free_space_in_directories(where: str, target: DirectoriesTarget) -> FreeSpace:
    """The space of the directory with the least of those that are mounted already.

    TargetError if one is unusable, or if one that the study mounts cannot be.
    """
    if os.geteuid() == ROOT_UID:
        prepare_mounts(target)
    directories = target_paths(target)
    for directory in directories:
        WorkFolder.prepare(directory)
    return smallest_free_space(where, directories)


def _free_space_on_volume(study: Study, target: VolumeTarget, folder: Path) -> FreeSpace:
    """The space of the smallest volume of the study. TargetError if one cannot be made."""
    disks = prepare_members(target, folder, lambda path: ScratchDevice.prepare(path, folder))
    require_tools(target.filesystem)
    members = min(
        disk.found.size_bytes if isinstance(disk, ScratchDevice) else disk.size_bytes
        for disk in disks
    )
    layouts = {target.layout.with_settings(c.settings) for c in study.known().configurations()}
    for layout in layouts:
        require_support(layout)
    space = min(layout.capacity_bytes(len(disks), members) for layout in layouts)
    return FreeSpace(study.describe_target(), space)


def target_paths(target: Target) -> tuple[Path, ...]:
    """Return paths whose devices stand for the target; any loop device for one not yet made."""
    match target:
        case LoopbackTarget() | DriveTarget():
            return (_ANY_LOOP_DEVICE,)
        case ScratchTarget(device):
            return (device,)
        case VolumeTarget():
            return (target.devices[0] if target.devices else _ANY_LOOP_DEVICE,)
        case DirectoryTarget(path):
            return (path or Path(),)
        case DirectoriesTarget(directories, mounts):
            return tuple(path for name, path in directories.items() if name not in mounts)
        case HdfsTarget() | SimulatedTarget():
            return (Path(),)
