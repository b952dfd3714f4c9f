"""Scratch disks, which a study creates and removes.

All parts are in one uniquely named folder below the given one. They are the image file of a
loop-back disk, and the mount point of the file systems on the disk (see `new_filesystem`). Undo
finds the existing parts and removes them, so it does not depend on the progress of the creation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from iostudy import own_folder, units
from iostudy.host import devices
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings import commands
from iostudy.settings.change import Change, ConflictPolicy, PrivateChange, Record
from iostudy.settings.filesystem_location import FilesystemLocation
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.scratch import steps

PREFIX = "scratch-"
MOUNT = "mount"
"""The names of the folder of a scratch disk, and of the mount point in it."""


@dataclass(frozen=True)
class DiskState:
    """Figures of a disk since its watch began, and why what ran does not count, if it does not."""

    device: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    invalid: str = ""


FindDiskState = Callable[[], DiskState]
"""Returns the state of a disk since its watch began."""


class ScratchDisk(Change, Protocol):
    """A disk for file systems of a study, with a folder for their mount point."""

    @property
    def is_private(self) -> bool:
        """Whether the study made the device, so that no other process uses it."""

    @property
    def in_memory(self) -> bool:
        """Whether its data use no disk of the host."""

    @property
    def size_bytes(self) -> int:
        """Its size."""

    @property
    def mount_point(self) -> Path:
        """Mount point of the disk."""

    @property
    def device(self) -> BlockDevice:
        """The device; TargetError if it is not there."""

    @property
    def identity(self) -> ScratchIdentity:
        """Identity of the device for mkfs."""

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the results has to know."""

    def tune(self) -> tuple[Change, ...]:
        """Prepare what the disk needs beyond itself, once it is there."""

    def watch(self) -> FindDiskState:
        """Watch it from now on; TargetError if it has failed."""


class FolderOfDisk(PrivateChange):
    """Base of changes with a folder of their own, and a mount point in it."""

    folder: Path
    location: FilesystemLocation | None

    @property
    def mount_point(self) -> Path:
        return self.folder / MOUNT

    def remove_folder(self) -> bool:
        """Remove the empty folder with the mount point; return whether it existed.

        OutOfReachError if it did not, and its file system is not mounted there.
        """
        was_there = self.folder.exists()
        steps.remove_folder(self.mount_point)
        steps.remove_folder(self.folder)
        if not was_there and self.location is not None:
            self.location.require(self.folder, f"to remove the {self.describe()}")
        return was_there


class PlainDisk(FolderOfDisk):
    """Base of the disks that need nothing beyond themselves, and that nobody watches."""

    def notes(self) -> tuple[str, ...]:
        return ()

    def tune(self) -> tuple[Change, ...]:
        """Return none; the queue of a device is the user's."""
        return ()

    def watch(self) -> FindDiskState:
        return DiskState


@dataclass(frozen=True)
class LoopbackDisk(PlainDisk):
    """A file attached as a disk with direct I/O.

    A detached loop device keeps its queue. Changes of the queue follow the disk in the journal, so
    they are undone before it is detached.
    """

    kind: ClassVar[str] = "loopback-disk"
    is_private: ClassVar[bool] = True
    in_memory: ClassVar[bool] = False

    folder: Path
    size_bytes: int
    location: FilesystemLocation | None = None

    @classmethod
    def prepare(cls, parent: Path, size_bytes: int, count: int = 1) -> list[LoopbackDisk]:
        """Prepare disks below ``parent``; TargetError without enough space or tools for all."""
        commands.require("setpriv", "losetup")
        steps.check_space(parent, count * size_bytes)
        folders = [own_folder.new_path(parent, PREFIX) for _ in range(count)]
        return [cls(folder, size_bytes, FilesystemLocation.find(folder)) for folder in folders]

    @classmethod
    def from_record(cls, record: Record) -> LoopbackDisk:
        location = FilesystemLocation.from_record(record.get("place"))
        return cls(
            own_folder.parse_recorded(record["folder"], PREFIX), record["size_bytes"], location
        )

    def record(self) -> Record:
        return {
            "folder": str(self.folder),
            "size_bytes": self.size_bytes,
            "place": self.location.record() if self.location else None,
        }

    def describe(self) -> str:
        return f"loop-back scratch disk of {units.format_size(self.size_bytes)} in {self.folder}"

    @property
    def image(self) -> Path:
        """The backing file."""
        return self.folder / "image"

    @property
    def device(self) -> BlockDevice:
        """The loop device; TargetError while it is detached."""
        return steps.find_attached(self.image, self._label, "scratch disk")

    @property
    def identity(self) -> ScratchIdentity:
        return ScratchIdentity.from_device(self.device)

    @property
    def _label(self) -> str:
        """Label of the loop device in the kernel, which finds it even if its folder was moved."""
        return self.folder.name

    def apply(self) -> None:
        """Allocate and attach by descriptors, without a second lookup of any name."""
        with (
            steps.create_folder(self.folder) as folder,
            steps.create_image(folder, self.image, self.size_bytes) as image,
        ):
            steps.attach(image, self.image, self._label)

    def notes(self) -> tuple[str, ...]:
        """Report missing direct I/O, which doubles page cache effects."""
        if read_attribute(ROOT / "sys/block" / self.device.name / "loop/dio") == "1":
            return ()
        return (f"{self.device.name}: the file system of {self.folder} allows no direct I/O",)

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Detach, and remove the folder with the image.

        OutOfReachError, after the detach, if the file system of the folder is not mounted there.
        """
        attached = steps.find_loops(self.image, self._label)
        steps.detach(self.image, self._label)
        steps.remove_file(self.image)
        was_there = self.remove_folder()
        moved = {loop.backing_file for loop in attached} - {self.image, None}
        left = tuple(f"its image was moved to {path}, and stays there" for path in moved)
        return (f"{self.describe()}: removed", *left) if was_there or attached else ()


@dataclass(frozen=True)
class ScratchDevice(PlainDisk):
    """A device with disposable content, and the folder of its mount point."""

    kind: ClassVar[str] = "scratch-device"
    is_private: ClassVar[bool] = False
    in_memory: ClassVar[bool] = False

    path: Path
    identity: ScratchIdentity
    folder: Path
    location: FilesystemLocation | None = None

    @classmethod
    def prepare(
        cls, path: Path, parent: Path, confirmed: ScratchIdentity | None = None
    ) -> ScratchDevice:
        """Prepare a mount below the folder ``parent``.

        TargetError if the device is in use, or is not the one that the user confirmed.
        """
        steps.check_unused(path)
        identity = confirmed or ScratchIdentity.from_path(path)
        with steps.open_verified(path, identity):
            folder = own_folder.new_path(parent, PREFIX)
            return cls(path, identity, folder, FilesystemLocation.find(folder))

    @classmethod
    def from_record(cls, record: Record) -> ScratchDevice:
        identity = ScratchIdentity.from_record(record)
        folder = own_folder.parse_recorded(record["folder"], PREFIX)
        location = FilesystemLocation.from_record(record.get("place"))
        return cls(Path(record["path"]), identity, folder, location)

    def record(self) -> Record:
        return {
            "path": str(self.path),
            **self.identity.record(),
            "folder": str(self.folder),
            "place": self.location.record() if self.location else None,
        }

    def describe(self) -> str:
        return f"scratch device {self.path} in {self.folder}"

    @property
    def size_bytes(self) -> int:
        return self.identity.size_bytes

    @property
    def device(self) -> BlockDevice:
        """The confirmed device, independent of its name; TargetError if it is gone."""
        if not self.identity.is_present():
            raise steps.wrong_device_error(self.path, self.identity, self.path)
        return devices.read_device(self.identity.device.name)

    def apply(self) -> None:
        """Create the folder; TargetError if the node leads to another device now."""
        with steps.open_verified(self.path, self.identity), steps.create_folder(self.folder):
            pass

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Remove the folder. The content of the device stays.

        OutOfReachError if the file system of the folder is not mounted there.
        """
        return (f"{self.describe()}: removed",) if self.remove_folder() else ()
