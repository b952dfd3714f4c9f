"""Scratch disks: a file system of the study's own, made for it and gone after it.

Everything lies in one folder of a name that nobody else has, made below the folder that is given:
the image file (of a loop-back disk) and the mount point. To undo is to look for what of it is there
and remove it, so it does not matter how far the making came.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import units
from iostudy.errors import TargetError
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings import disks
from iostudy.settings.change import Foreign, Record
from iostudy.settings.identity import DeviceIdentity, DiskIdentity


@dataclass(frozen=True)
class LoopbackDisk:
    """A file attached as a disk with direct I/O, formatted and mounted."""

    kind: ClassVar[str] = "loopback-disk"

    folder: Path
    size_bytes: int
    filesystem: str

    @classmethod
    def prepare(cls, parent: Path, size_bytes: int, filesystem: str) -> LoopbackDisk:
        """One below the folder ``parent``; TargetError if there is no room or no tool for it."""
        disks.require_tools(filesystem, "losetup")
        disks.check_space(parent, size_bytes)
        return cls(_new_folder(parent), size_bytes, filesystem)

    @classmethod
    def from_record(cls, record: Record) -> LoopbackDisk:
        """What the journal has kept."""
        return cls(Path(record["folder"]), record["size_bytes"], record["filesystem"])

    def record(self) -> Record:
        """Folder, size and file system."""
        return {
            "folder": str(self.folder),
            "size_bytes": self.size_bytes,
            "filesystem": self.filesystem,
        }

    def describe(self) -> str:
        """Size, file system and place."""
        size = units.format_size(self.size_bytes)
        return f"loop-back scratch disk of {size} with {self.filesystem} in {self.folder}"

    @property
    def image(self) -> Path:
        """The backing file."""
        return self.folder / "image"

    @property
    def mount_point(self) -> Path:
        """Where to work."""
        return self.folder / "mount"

    @property
    def device(self) -> BlockDevice:
        """The loop device; TargetError before it is attached."""
        for device in devices.loops_of(self.image):
            return device
        raise TargetError(
            "the loop device of the scratch disk",
            found="it is not attached",
            where=str(self.image),
            remedy="see `losetup -l`; somebody else has detached it",
        )

    def apply(self) -> None:
        """Allocate, attach, format and mount."""
        disks.make_folder(self.folder)
        disks.allocate(self.image, self.size_bytes)
        disks.attach(self.image)
        disks.format_and_mount(self.device.path, self.filesystem, self.mount_point)

    def notes(self) -> tuple[str, ...]:
        """What is not as it should be: without direct I/O the page cache is in the way twice."""
        if read_attribute(ROOT / "sys/block" / self.device.name / "loop/dio") == "1":
            return ()
        return (f"{self.device.name}: the file system of {self.folder} allows no direct I/O",)

    def devices(self) -> tuple[str, ...]:
        """None: its owner alone works on it, and the owner is gone when others undo it."""
        return ()

    def undo(self, foreign: Foreign = Foreign.REPORT) -> tuple[str, ...]:
        """Unmount, detach, and remove the folder with the image."""
        del foreign
        was_there = self.folder.exists() or bool(devices.loops_of(self.image))
        disks.unmount(self.mount_point)
        disks.detach(self.image)
        disks.remove(self.image, self.mount_point, self.folder)
        return (f"{self.describe()}: removed",) if was_there else ()


@dataclass(frozen=True)
class ScratchDevice:
    """A device whose content may be destroyed, formatted and mounted. Undo only unmounts it."""

    kind: ClassVar[str] = "scratch-device"

    path: Path
    found: DeviceIdentity
    folder: Path
    filesystem: str

    @classmethod
    def prepare(cls, path: Path, parent: Path, filesystem: str) -> ScratchDevice:
        """Mount below the folder ``parent``; TargetError if the device is used by anybody."""
        disks.require_tools(filesystem)
        disks.check_unused(path)
        return cls(path, _found_at(path), _new_folder(parent), filesystem)

    @classmethod
    def from_record(cls, record: Record) -> ScratchDevice:
        """What the journal has kept."""
        found = DeviceIdentity.from_record(record["device"])
        return cls(Path(record["path"]), found, Path(record["folder"]), record["filesystem"])

    def record(self) -> Record:
        """Device node, the device behind it, folder and file system."""
        return {
            "path": str(self.path),
            "device": self.found.record(),
            "folder": str(self.folder),
            "filesystem": self.filesystem,
        }

    def describe(self) -> str:
        """Device, file system and place."""
        return f"scratch device {self.path} with {self.filesystem} on {self.mount_point}"

    @property
    def mount_point(self) -> Path:
        """Where to work."""
        return self.folder / "mount"

    @property
    def device(self) -> BlockDevice:
        """The device itself; TargetError if it is gone."""
        (device,) = stack.devices_of(self.path)
        return device

    def apply(self) -> None:
        """Format and mount; TargetError if the node leads to another device than it did."""
        disks.make_folder(self.folder)
        disks.check_unused(self.path)
        if _found_at(self.path) != self.found:
            raise TargetError(
                f"the device {self.found.name} that was found to be unused",
                found=f"the name leads to another one now: {self.identity().describe()}",
                where=str(self.path),
                remedy="see dmesg for what became of it; name it as /dev/disk/by-id/...",
            )
        disks.format_and_mount(self.path, self.filesystem, self.mount_point)

    def identity(self) -> DiskIdentity:
        """Which disk it is, to be confirmed, recorded and compared."""
        return DiskIdentity.at(self.path)

    def notes(self) -> tuple[str, ...]:
        """Nothing to say."""
        return ()

    def devices(self) -> tuple[str, ...]:
        """None: its owner alone works on it, and the owner is gone when others undo it."""
        return ()

    def undo(self, foreign: Foreign = Foreign.REPORT) -> tuple[str, ...]:
        """Unmount, and remove the folder. The file system stays on the device."""
        del foreign
        was_there = self.folder.exists()
        disks.unmount(self.mount_point)
        disks.remove(None, self.mount_point, self.folder)
        return (f"{self.describe()}: unmounted",) if was_there else ()


ScratchDisk = LoopbackDisk | ScratchDevice


def _found_at(path: Path) -> DeviceIdentity:
    (device,) = stack.devices_of(path)
    return DeviceIdentity.of(device)


def _new_folder(parent: Path) -> Path:
    return parent.resolve() / f"scratch-{secrets.token_hex(8)}"
