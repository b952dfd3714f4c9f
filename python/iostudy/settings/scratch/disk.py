"""Scratch disks: a disk of the study's own, made for it and gone after it.

Everything lies in one folder of a name that nobody else has, made below the folder that is given:
the image file (of a loop-back disk) and the mount point of the file systems that are made on the
disk, see `new_filesystem` beside this. To undo is to look for what of it is there and remove it, so
it does not matter how far the making came.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder, units
from iostudy.errors import TargetError
from iostudy.host import devices
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings import commands
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.mounted_place import MountedPlace
from iostudy.settings.scratch import steps

PREFIX = "scratch-"
MOUNT = "mount"
"""The names of the folder of a scratch disk, and of the mount point in it."""


@dataclass(frozen=True)
class LoopbackDisk:
    """A file attached as a disk with direct I/O."""

    kind: ClassVar[str] = "loopback-disk"

    folder: Path
    size_bytes: int
    place: MountedPlace | None = None

    @classmethod
    def prepare(cls, parent: Path, size_bytes: int) -> LoopbackDisk:
        """One below the folder ``parent``; TargetError if there is no room or no tool for it."""
        return cls.prepare_several(parent, size_bytes, 1)[0]

    @classmethod
    def prepare_several(cls, parent: Path, size_bytes: int, count: int) -> list[LoopbackDisk]:
        """So many, each of that size; TargetError if there is no room or no tool for all."""
        commands.require("setpriv", "losetup")
        steps.check_space(parent, count * size_bytes)
        folders = [own_folder.new(parent, PREFIX) for _ in range(count)]
        return [cls(folder, size_bytes, MountedPlace.found(folder)) for folder in folders]

    @classmethod
    def from_record(cls, record: Record) -> LoopbackDisk:
        """What the journal has kept."""
        place = MountedPlace.from_record(record.get("place"))
        return cls(own_folder.recorded(record["folder"], PREFIX), record["size_bytes"], place)

    def record(self) -> Record:
        """Folder with its place, and size."""
        return {
            "folder": str(self.folder),
            "size_bytes": self.size_bytes,
            "place": self.place.record() if self.place else None,
        }

    def describe(self) -> str:
        """Size and place."""
        return f"loop-back scratch disk of {units.format_size(self.size_bytes)} in {self.folder}"

    @property
    def image(self) -> Path:
        """The backing file."""
        return self.folder / "image"

    @property
    def mount_point(self) -> Path:
        """Where to work."""
        return self.folder / MOUNT

    @property
    def device(self) -> BlockDevice:
        """The loop device; TargetError before it is attached."""
        for device in steps.loops(self.image, self._label):
            return device
        raise TargetError(
            "the loop device of the scratch disk",
            found="it is not attached",
            where=str(self.image),
            remedy="see `losetup -l`; somebody else has detached it",
        )

    @property
    def found(self) -> ScratchIdentity:
        """What a file system is made on."""
        return ScratchIdentity.of(self.device)

    @property
    def _label(self) -> str:
        """The loop device has it in the kernel: it is found even if its folder was moved."""
        return self.folder.name

    def apply(self) -> None:
        """Allocate and attach, all by descriptors: no name is looked up again."""
        with (
            steps.new_folder(self.folder) as folder,
            steps.new_image(folder, self.image, self.size_bytes) as image,
        ):
            steps.attach(image, self.image, self._label)

    def notes(self) -> tuple[str, ...]:
        """What is not as it should be: without direct I/O the page cache is in the way twice."""
        if read_attribute(ROOT / "sys/block" / self.device.name / "loop/dio") == "1":
            return ()
        return (f"{self.device.name}: the file system of {self.folder} allows no direct I/O",)

    def touches(self) -> tuple[str, ...]:
        """None: its owner alone works on it, and the owner is gone when others undo it."""
        return ()

    def undo(self, foreign: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Detach, and remove the folder with the image.

        OutOfReachError where the file system of the folder is not mounted there: detached it is.
        """
        del foreign
        attached = steps.loops(self.image, self._label)
        was_there = self.folder.exists()
        steps.detach(self.image, self._label)
        steps.remove_file(self.image)
        steps.remove_folder(self.mount_point)
        steps.remove_folder(self.folder)
        if not was_there and self.place is not None:
            self.place.require(self.folder, f"to remove the {self.describe()}")
        moved = {loop.backing_file for loop in attached} - {self.image, None}
        left = tuple(f"its image was moved to {path}, and is left there" for path in moved)
        return (f"{self.describe()}: removed", *left) if was_there or attached else ()


@dataclass(frozen=True)
class ScratchDevice:
    """A device whose content may be destroyed, with a folder to mount it in."""

    kind: ClassVar[str] = "scratch-device"

    path: Path
    found: ScratchIdentity
    folder: Path
    place: MountedPlace | None = None

    @classmethod
    def prepare(
        cls, path: Path, parent: Path, confirmed: ScratchIdentity | None = None
    ) -> ScratchDevice:
        """To mount below the folder ``parent``.

        TargetError if anybody uses the device, or if it is not the one that the user confirmed.
        """
        steps.check_unused(path)
        found = confirmed or ScratchIdentity.at(path)
        with steps.opened(path, found):
            folder = own_folder.new(parent, PREFIX)
            return cls(path, found, folder, MountedPlace.found(folder))

    @classmethod
    def from_record(cls, record: Record) -> ScratchDevice:
        """What the journal has kept."""
        found = ScratchIdentity.from_record(record)
        folder = own_folder.recorded(record["folder"], PREFIX)
        place = MountedPlace.from_record(record.get("place"))
        return cls(Path(record["path"]), found, folder, place)

    def record(self) -> Record:
        """Device node, the device behind it, and folder with its place."""
        return {
            "path": str(self.path),
            **self.found.record(),
            "folder": str(self.folder),
            "place": self.place.record() if self.place else None,
        }

    def describe(self) -> str:
        """Device and place."""
        return f"scratch device {self.path} in {self.folder}"

    @property
    def mount_point(self) -> Path:
        """Where to work."""
        return self.folder / MOUNT

    @property
    def device(self) -> BlockDevice:
        """The device that was found, wherever its name leads now; TargetError if it is gone."""
        if not self.found.is_present():
            raise steps.another_device(self.path, self.found, self.path)
        return devices.read_device(self.found.device.name)

    def apply(self) -> None:
        """Make the folder; TargetError if the node leads to another device than it did."""
        with steps.opened(self.path, self.found), steps.new_folder(self.folder):
            pass

    def notes(self) -> tuple[str, ...]:
        """Nothing to say."""
        return ()

    def touches(self) -> tuple[str, ...]:
        """None: its owner alone works on it, and the owner is gone when others undo it."""
        return ()

    def undo(self, foreign: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Remove the folder. What is on the device stays there.

        OutOfReachError where the file system of the folder is not mounted there.
        """
        del foreign
        was_there = self.folder.exists()
        steps.remove_folder(self.mount_point)
        steps.remove_folder(self.folder)
        if not was_there and self.place is not None:
            self.place.require(self.folder, f"to remove the {self.describe()}")
        return (f"{self.describe()}: removed",) if was_there else ()


ScratchDisk = LoopbackDisk | ScratchDevice
