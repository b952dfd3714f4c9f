"""Disks of a volume, prepared before it is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iostudy.settings.scratch import signatures
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.drive import ModelledDrive
from iostudy.settings.scratch.new_filesystem import ScratchDisk
from iostudy.study.volume_target import DriveMembers, LoopbackMembers, VolumeTarget


def prepare_members(
    target: VolumeTarget, folder: Path, prepare_device: Callable[[Path], ScratchDevice]
) -> tuple[ScratchDisk, ...]:
    """Prepare the disks; those of the study will be in ``folder``.

    TargetError without enough space, or for a device that is in use or carries a signature.
    """
    match target.members:
        case LoopbackMembers(size=size, count=count):
            return tuple(LoopbackDisk.prepare_several(folder, size, count))
        case DriveMembers(models=models, size=size):
            return tuple(ModelledDrive.prepare_several(folder, models, size))
        case paths:
            prepared = tuple(map(prepare_device, paths))
            for path in paths:
                signatures.require_none(path)
            return prepared
