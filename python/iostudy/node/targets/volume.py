"""Driver of a volume of LVM or md, on disks of the study or of the user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iostudy import own_folder
from iostudy.node.conditions import NO_PERMISSION, Permission
from iostudy.node.free_space import FreeSpace
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.made_disks import ANY_LOOP_DEVICE, prepare_disks
from iostudy.node.targets.scratch import is_mount_on, prepare_device
from iostudy.node.targets.storage import ScratchStorage, VolumeRequest
from iostudy.settings.definition import Reach
from iostudy.settings.scratch import steps
from iostudy.settings.scratch.disk import PREFIX, ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import require_tools
from iostudy.settings.scratch.volume.volume import require_support
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.study.targets.volume import VolumeTarget


class VolumeDriver(TargetDriver[VolumeTarget]):
    """Makes the volume again for each layout, always on the same disks."""

    def probe_paths(self) -> tuple[Path, ...]:
        return self.target.destroyed[:1] or (ANY_LOOP_DEVICE,)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        """Return that of the smallest volume of the study."""
        disks = self._prepare_members(folder, NO_PERMISSION)
        require_tools(self.target.filesystem)
        members = min(disk.size_bytes for disk in disks)
        configurations = study.known().configurations()
        layouts = {self.target.layout.with_settings(c.settings) for c in configurations}
        for layout in layouts:
            require_support(layout)
        space = min(layout.capacity_bytes(len(disks), members) for layout in layouts)
        return FreeSpace(study.describe_target(), space)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        if self.target.is_made:
            return (folder,)
        assert storage is not None
        return storage.device_paths

    def prepare(self, folder: Path, permission: Permission) -> ScratchStorage:
        disks = tuple(self._prepare_members(folder, permission))
        path = own_folder.new_path(folder, PREFIX)
        volume = VolumeRequest(path, self.target.layout, disks)
        return ScratchStorage(disks[0], Filesystem(self.target.filesystem), volume=volume)

    def creates(self, factor: Factor, reach: Reach) -> bool:
        if self.target.is_made:
            return not factor.on
        return is_mount_on(self.target.destroyed, factor, reach)

    def _prepare_members(self, folder: Path, permission: Permission) -> Sequence[ScratchDisk]:
        """Prepare the disks; TargetError for one in use, or with a signature."""
        if self.target.made is not None:
            return prepare_disks(folder, self.target.made)
        paths = self.target.destroyed
        prepared = [prepare_device(path, folder, permission) for path in paths]
        for path in paths:
            steps.require_no_signature(path)
        return prepared
