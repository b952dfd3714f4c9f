"""What this host will probably offer and refuse, for a study that is only looked at."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from iostudy.errors import IostudyError
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.node import target_devices
from iostudy.node.free_space import FreeSpace, require_room, room_in
from iostudy.node.levels import Levels
from iostudy.settings import catalog as settings
from iostudy.settings import places
from iostudy.settings.definition import Reach
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import require_tools
from iostudy.settings.scratch.rehearsal import require_makeable
from iostudy.settings.trace_instance import TraceInstance, usable_tracefs
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.cross_check import with_offered
from iostudy.study.model import Study
from iostudy.study.targets import (
    DirectoryTarget,
    DiskTarget,
    HdfsTarget,
    LoopbackTarget,
    ScratchTarget,
    Target,
    disks_beside,
)

_ANY_LOOP_DEVICE = Path("/dev/loop0")


def with_expected_levels(study: Study) -> Study:
    """Fill in the levels that wait for the host's; as it is where they cannot be told yet.

    Loop devices are alike, so any of them tells what one that is still to be made will offer.
    StudyError where they do not go with the rest of the study.
    """
    levels = Levels(Transaction(), (_place(study.target),))
    try:
        offered = {f.name: levels.offered(f.name, f.on) for f in study.awaiting_offer()}
    except IostudyError:
        return study
    return with_offered(study, offered)


def check_target(study: Study, folder: Path) -> None:
    """TargetError where the target cannot be used, has no such settings or too little room.

    SettingError where a setting is not there while the host is as it is, unless the study leaves
    out what is refused. ``folder`` stands for the output folder. Changes nothing.
    """
    room = _room(study, folder)
    _require_makeable(study, room.free_bytes)
    spec = study.hadoop if study.needs_hadoop else None
    for directory in spec.dirs if spec else ():
        WorkFolder.prepare(directory)
    for factor in study.factors:
        if factor.kind is FactorKind.SETTING and not study.leave_out_refused:
            _check_setting(study, factor)
    if not study.awaiting_offer():
        require_room(study.workloads, study.configurations(), room, spec)


def check_block_latency(study: Study) -> None:
    """UsageError where the study traces block requests, and this host cannot. Changes nothing."""
    if not study.block_latency:
        return
    if isinstance(study.target, DiskTarget):
        usable_tracefs()
    else:
        TraceInstance.prepare(target_devices.queued(target_devices.names(_place(study.target))))


def _check_setting(study: Study, factor: Factor) -> None:
    """The places of a factor, and what it depends on, as far as they are there before the run."""
    reach = settings.get(factor.name).reach
    if reach in (Reach.DISK, Reach.CLUSTER) or _is_made(study.target, factor, reach):
        return
    found = Levels(Transaction(), (_place(study.target),)).bound(factor.name, factor.on)
    if factor.condition and factor.condition.name not in {f.name for f in study.factors}:
        for setting in found:
            setting.read()


def _is_made(target: Target, factor: Factor, reach: Reach) -> bool:
    """Whether the run itself makes the place of a factor: a loop device, or a mount on a device."""
    match target:
        case LoopbackTarget():
            return not factor.on
        case ScratchTarget(device):
            own = set(stack.devices_of(device))
            on = places.resolved(factor.on)
            return reach is Reach.MOUNT and all(_is_node_of(own, place) for place in on)
        case DirectoryTarget() | HdfsTarget():
            return False
        case unreachable:
            assert_never(unreachable)


def _is_node_of(devices: set[BlockDevice], place: str) -> bool:
    """Whether a place of a factor is one of the devices, and no directory on it."""
    is_directory = Path(place).is_dir()
    return not is_directory and devices.issuperset(stack.devices_of(place))


def _require_makeable(study: Study, size_bytes: int | None) -> None:
    """TargetError where a file system of the study lacks its tool, or would not fit its disk."""
    if not isinstance(study.target, DiskTarget) or size_bytes is None:
        return
    first = Filesystem(study.target.filesystem)
    varied = {first.with_settings(c.settings) for c in study.configurations()}
    for filesystem in varied | set(map(Filesystem, disks_beside(study.target).values())):
        require_tools(filesystem.type)
        require_makeable(filesystem, size_bytes)


def _room(study: Study, folder: Path) -> FreeSpace:
    """The room on the target, for a disk to be made: all of it. TargetError if it is unusable."""
    where = study.describe_target()
    match study.target:
        case LoopbackTarget(size_bytes, filesystem, beside):
            LoopbackDisk.prepare_several(folder, size_bytes, 1 + len(beside))
            for each in (filesystem, *beside.values()):
                require_tools(each)
            return FreeSpace(where, size_bytes)
        case ScratchTarget(device, filesystem):
            ScratchDevice.prepare(device, folder)
            require_tools(filesystem)
            return FreeSpace(where, stack.devices_of(device)[0].size_bytes)
        case DirectoryTarget(path):
            WorkFolder.prepare(path or folder)
            return room_in(where, path or folder)
        case HdfsTarget():
            WorkFolder.prepare(folder)
            return FreeSpace(where, None)
        case unreachable:
            assert_never(unreachable)


def _place(target: Target) -> Path:
    match target:
        case LoopbackTarget():
            return _ANY_LOOP_DEVICE
        case ScratchTarget(device):
            return device
        case DirectoryTarget(path):
            return path or Path()
        case HdfsTarget():
            return Path()
