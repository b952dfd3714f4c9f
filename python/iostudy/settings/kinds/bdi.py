"""Read-ahead of mounts without a block device: their backing device info (bdi).

FUSE and NFS name it by the device number of the mount; a btrfs links to its own.

Source: Documentation/ABI/testing/sysfs-class-bdi; super_setup_bdi_name() and its callers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy.errors import TargetError
from iostudy.host import mounts, stack
from iostudy.host.files import ROOT
from iostudy.host.mounts import Mount
from iostudy.host.namespaces import find_process_with_mount
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.bdi import BdiDefinition
from iostudy.settings.identity import boot_id
from iostudy.settings.kinds.host_files import HostFiles
from iostudy.settings.mounting.owners import find_lower_device

_BDI = "sys/class/bdi"


@dataclass(frozen=True)
class BackingDevice(HostFiles):
    """The bdi of a mounted device; ``number`` and ``source`` identify it."""

    kind: ClassVar[str] = "bdi"

    point: str
    number: str
    filesystem: str
    source: str
    disk: str

    @classmethod
    def from_mount(cls, mount: Mount) -> BackingDevice:
        """Build from a current mount; ``disk`` is the device below a btrfs.

        Others have none, and an unavailable server would block.
        """
        disk = find_lower_device(mount) if mount.filesystem == "btrfs" else ""
        point = str(mount.point)
        return cls(boot_id(), point, mount.device, mount.filesystem, mount.source, disk)

    @property
    def name(self) -> str:
        return self.point

    def affected_resources(self) -> tuple[str, ...]:
        return (self.disk or self.number,)

    def absence_reason(self) -> str | None:
        """Return why it is unmounted; the kernel reuses its numbers."""
        mine = (self.number, self.filesystem, self.source)
        if any((m.device, m.filesystem, m.source) == mine for m in mounts.read_mounts()):
            return super().absence_reason()
        # The files of a bdi are those of every mount namespace.
        return (
            super().absence_reason()
            if find_process_with_mount(*mine)
            else "it is no longer mounted"
        )


def bind(definition: BdiDefinition, place: str) -> tuple[AttributeSetting, ...]:
    """Bind the setting to the mount of ``place``; TargetError if it has none."""
    mount = mount_of(place)
    name = _name(mount, place)
    attribute = f"{_BDI}/{name}/{definition.attribute}"
    if name is None or not (ROOT / attribute).is_file():
        on_device = "lies on a block device, whose read-ahead holds for it"
        unknown = "keeps no read-ahead of its own that could be found"
        why = unknown if mount.device.startswith(mounts.ANONYMOUS) else on_device
        raise TargetError(
            f"{definition.name} of a mount",
            found=f"{mount.filesystem} ({mount.source}) {why}",
            where=place,
            remedy="use block.read_ahead_kb for a file system on a block device",
        )
    return (AttributeSetting(definition, BackingDevice.from_mount(mount), attribute),)


KIND = SettingKind(BdiDefinition, bind, attributes.prepare_changes)


def mount_of(place: str) -> Mount:
    """Return the mount of a path; TargetError if there is no such path."""
    try:
        return mounts.find_mount(Path(place))
    except OSError as error:
        raise TargetError(
            "a path on a mount",
            found=error.strerror or str(error),
            where=place,
            remedy="name a directory of an NFS, FUSE or btrfs mount; see `findmnt`",
        ) from error


def _name(mount: Mount, place: str) -> str | None:
    """Return the name of its bdi; None if it belongs to a block device."""
    if mount.filesystem == "btrfs":
        member = stack.find_devices(place)[0].name
        links = (ROOT / "sys/fs/btrfs").glob(f"*/devices/{member}")
        return next((link.parent.parent.joinpath("bdi").resolve().name for link in links), None)
    return mount.device if mount.device.startswith(mounts.ANONYMOUS) else None
