"""Driver of devices of the user, whose data the study destroys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.node.conditions import Permission
from iostudy.node.free_space import FreeSpace
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings import places
from iostudy.settings.definition import Reach
from iostudy.settings.scratch.disk import ScratchDevice
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import require_tools
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.study.targets.scratch import ScratchTarget


class ScratchDriver(TargetDriver[ScratchTarget]):
    """Formats the device that the user confirmed."""

    def probe_paths(self) -> tuple[Path, ...]:
        return (self.target.device,)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        device = ScratchDevice.prepare(self.target.device, folder)
        require_tools(self.target.filesystem)
        return FreeSpace(study.describe_target(), device.size_bytes)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        assert storage is not None
        return storage.device_paths

    def prepare(self, folder: Path, permission: Permission) -> ScratchStorage:
        disk = prepare_device(self.target.device, folder, permission)
        return ScratchStorage(disk, Filesystem(self.target.filesystem))

    def creates(self, factor: Factor, reach: Reach) -> bool:
        return is_mount_on(self.target.destroyed, factor, reach)


def prepare_device(path: Path, folder: Path, permission: Permission) -> ScratchDevice:
    """Prepare the device of the user at that path, the confirmed one if there is one."""
    return ScratchDevice.prepare(path, folder, permission.scratch.get(path))


def is_mount_on(paths: Iterable[Path], factor: Factor, reach: Reach) -> bool:
    """Return whether a factor is about the mount of a new file system on one of the devices."""
    devices = {device for path in paths for device in stack.find_devices(path)}
    on = places.resolve_places(factor.on)
    return reach is Reach.MOUNT and all(_is_among(devices, place) for place in on)


def _is_among(devices: set[BlockDevice], place: str) -> bool:
    """Return whether a place of a factor is one of the devices, not a directory on it."""
    is_directory = Path(place).is_dir()
    return not is_directory and devices.issuperset(stack.find_devices(place))
