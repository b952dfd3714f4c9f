"""Storage of a target: its disks, prepared and made, and its paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from iostudy.account import Account
from iostudy.errors import TargetError
from iostudy.host import device_usage, stack
from iostudy.node.permission import Permission
from iostudy.node.site import ScratchStorage, VolumeRequest
from iostudy.node.volume_members import prepare_members
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.drive import ModelledDrive
from iostudy.settings.scratch.drive_queue import DriveQueue
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import ScratchDisk
from iostudy.settings.scratch.volume.volume import new_folder
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.targets import (
    DirectoriesTarget,
    DirectoryTarget,
    DriveTarget,
    HdfsTarget,
    LoopbackTarget,
    ScratchTarget,
    SimulatedTarget,
    Target,
)
from iostudy.study.volume_target import DriveMembers, VolumeTarget
from iostudy.workloads.workload import NO_TARGET, TargetPaths


def prepare_storage(target: Target, folder: Path, permission: Permission) -> ScratchStorage | None:
    """Prepare the scratch disks of a target, or none; TargetError if the target is unusable.

    ``folder`` is the output folder, ``permission`` covers the devices to format.
    """
    match target:
        case LoopbackTarget(size_bytes, filesystem, further_disks):
            count = 1 + len(further_disks)
            disks = LoopbackDisk.prepare_several(folder, size_bytes, count)
            return _storage(disks, filesystem, further_disks)
        case DriveTarget():
            drives = ModelledDrive.prepare_several(folder, target.models, target.size_bytes)
            return _storage(drives, target.filesystem, target.further_disks)
        case ScratchTarget(device, filesystem):
            disk = _scratch_device(device, folder, permission)
            return ScratchStorage(disk, Filesystem(filesystem))
        case VolumeTarget():
            return _volume_storage(target, folder, permission)
        case SimulatedTarget():
            raise AssertionError(target)
        case DirectoryTarget() | DirectoriesTarget() | HdfsTarget():
            for path in target_paths(target, folder, None):
                _refuse_device(path)
                WorkFolder.prepare(path)
            return None
        case unreachable:
            assert_never(unreachable)


def may_be_foreign(target: Target, *, needs_cluster: bool) -> bool:
    """Return whether root can work in these directories as the user to whom they belong.

    Disks are made, and a cluster runs, with more rights than those of that user.
    """
    return isinstance(target, DirectoryTarget | DirectoriesTarget) and not needs_cluster


def describe_account(account: Account | None) -> tuple[str, ...]:
    """Say who works in a directory that is not root's; nothing if it is."""
    if account is None:
        return ()
    return (f"files are made, and programs run, as {account.name}, who owns the target",)


def named_paths(target: Target, folder: Path) -> TargetPaths:
    """Return the paths by which the user names the target; ``folder`` is the output folder."""
    match target:
        case DirectoryTarget(path):
            return TargetPaths(directory=path or folder)
        case ScratchTarget(device):
            return TargetPaths(device=device)
        case _:
            return NO_TARGET


def make_disks(transaction: Transaction, scratch: ScratchStorage) -> None:
    """Make the disks, and give the queue of a modelled drive the drive's depth."""
    for disk in scratch.disks:
        transaction.apply(disk)
        if isinstance(disk, ModelledDrive):
            transaction.apply(DriveQueue.prepare(disk))


def target_paths(target: Target, folder: Path, scratch: ScratchStorage | None) -> tuple[Path, ...]:
    """The paths of a target, existing or to be made; ``scratch`` are its prepared disks."""
    match target:
        case LoopbackTarget() | DriveTarget() | DirectoryTarget(None) | HdfsTarget():
            return (folder,)
        case VolumeTarget() if not target.devices:
            return (folder,)
        case ScratchTarget() | VolumeTarget():
            # The user's paths may be links with other targets by now.
            assert scratch is not None
            return tuple(disk.device.path for disk in scratch.disks)
        case DirectoryTarget(Path() as path):
            return (path,)
        case DirectoriesTarget(directories):
            return tuple(directories.values())
        case _:
            raise AssertionError(target)


def is_in_memory(target: Target) -> bool:
    """Whether all data of a target are those of modelled drives."""
    match target:
        case DriveTarget():
            return True
        case VolumeTarget(members=members):
            return isinstance(members, DriveMembers)
        case _:
            return False


def _scratch_device(path: Path, folder: Path, permission: Permission) -> ScratchDevice:
    """The device of the user at that path, the confirmed one if there is one."""
    return ScratchDevice.prepare(path, folder, permission.scratch.get(path))


def _volume_storage(target: VolumeTarget, folder: Path, permission: Permission) -> ScratchStorage:
    """Prepare the disks of a volume; TargetError if one is unusable."""
    disks = prepare_members(target, folder, lambda path: _scratch_device(path, folder, permission))
    volume = VolumeRequest(new_folder(folder), target.layout, disks)
    return ScratchStorage(disks[0], Filesystem(target.filesystem), volume=volume)


def _storage(
    disks: Sequence[ScratchDisk], filesystem: str, further_disks: Mapping[str, str]
) -> ScratchStorage:
    """The first disk with its file system, and the further ones with theirs."""
    disk, *others = disks
    made = zip(further_disks.items(), others, strict=True)
    further = {name: ScratchStorage(own, Filesystem(kind)) for (name, kind), own in made}
    return ScratchStorage(disk, Filesystem(filesystem), further)


def _refuse_device(place: Path) -> None:
    """Raise TargetError for a block device in place of a directory."""
    if place.is_block_device():
        uses = device_usage.find_uses(stack.find_devices(place)[0])
        raise TargetError(
            "a directory",
            found="a block device" + (f" ({'; '.join(uses)})" if uses else ""),
            where=str(place),
            remedy="name the directory it is mounted on; or, if all data on it may be destroyed, "
            f"write target: {{scratch: {{device: {place}}}}}",
        )
