"""Modelled drive as a scratch disk: a server, its FUSE mount, and a loop device.

All parts are in one uniquely named folder. Undo kills the server first: the kernel then fails every
open request, so that no later step waits for it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from iostudy import own_folder, units
from iostudy.errors import TargetError
from iostudy.host.devices import BlockDevice
from iostudy.host.inventory import read_memory_bytes
from iostudy.settings import commands
from iostudy.settings.change import Change, ConflictPolicy, Record
from iostudy.settings.filesystem_location import FilesystemLocation
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.scratch import steps
from iostudy.settings.scratch.disk import PREFIX, DiskState, FindDiskState, FolderOfDisk
from iostudy_lab.device import server as drive_server
from iostudy_lab.device.queue import DriveQueue
from iostudy_lab.device.server import DriveRequest
from iostudy_lab.device.statistics import DriveStatistics
from iostudy_lab.drives import scaling
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash
from iostudy_lab.drives.presets import load_drive

_SOCKET = "nbd"
_MEMORY_SHARE = 0.5
"""Largest share of the available memory that the data of a drive may take."""


@dataclass(frozen=True)
class ModelledDrive(FolderOfDisk):
    """A modelled drive as a block device. ``drive`` is None after a rebuild from the journal.

    With ``nbd`` it also listens on `socket`.
    """

    kind: ClassVar[str] = "modelled-drive"
    is_private: ClassVar[bool] = True
    in_memory: ClassVar[bool] = True

    folder: Path
    model: str
    size_bytes: int
    drive: Disk | Flash | None = None
    memory_limit_bytes: int = 0
    location: FilesystemLocation | None = None
    nbd: bool = False

    @classmethod
    def prepare(
        cls,
        parent: Path,
        model: str,
        size_bytes: int | None = None,
        *,
        sparse: bool = False,
        nbd: bool = False,
    ) -> ModelledDrive:
        """Prepare one below ``parent``, of that size or of the whole drive.

        ``sparse`` allows a size that memory cannot hold; writes fail once it is used up.
        UsageError for an unknown drive or size; TargetError without memory or tools.
        """
        commands.require("setpriv", "losetup")
        drive = load_drive(model)
        if size_bytes is not None:
            drive = scaling.scale(drive, size_bytes)
        size = drive.size_bytes
        if not sparse:
            _require_memory(size)
        folder = own_folder.new_path(parent, PREFIX)
        location = FilesystemLocation.find(folder)
        return cls(folder, model, size, drive, _memory_limit(), location, nbd)

    @classmethod
    def from_record(cls, record: Record) -> ModelledDrive:
        """Rebuild from the journal."""
        return cls(
            own_folder.parse_recorded(record["folder"], PREFIX),
            record["model"],
            record["size_bytes"],
            location=FilesystemLocation.from_record(record.get("place")),
        )

    def record(self) -> Record:
        """Return the folder with its location, and what it models."""
        return {
            "folder": str(self.folder),
            "model": self.model,
            "size_bytes": self.size_bytes,
            "place": self.location.record() if self.location else None,
        }

    def describe(self) -> str:
        """Describe model, size and folder."""
        size = units.format_rounded_size(self.size_bytes)
        return f"modelled drive {self.model} of {size} in {self.folder}"

    @property
    def served(self) -> Path:
        """Mount point of the server, with a unique name.

        A loop device without a label is found by the last two names of its backing file.
        """
        return self.folder / self.folder.name

    @property
    def image(self) -> Path:
        """The served file."""
        return self.served / drive_server.FILE

    @property
    def socket(self) -> Path:
        """Socket of the NBD server, only for root."""
        return self.folder / _SOCKET

    @property
    def device(self) -> BlockDevice:
        """The loop device; TargetError while it is detached."""
        return steps.find_attached(self.image, self.folder.name, "modelled drive")

    @property
    def is_attached(self) -> bool:
        """Whether it has its loop device."""
        return bool(steps.find_loops(self.image, self.folder.name))

    @property
    def identity(self) -> ScratchIdentity:
        """Identity of the device for mkfs."""
        return ScratchIdentity.from_device(self.device)

    def apply(self) -> None:
        """Start the server and attach its file; TargetError if either fails."""
        assert self.drive is not None, "rebuilt from a journal"
        with steps.create_folder(self.folder):
            pass
        with steps.create_folder(self.served):
            pass
        parameters = json.dumps(self.drive.parameters())
        socket = self.socket if self.nbd else None
        request = DriveRequest(parameters, self.memory_limit_bytes, socket)
        drive_server.start(self.folder, self.served, request)
        image = os.open(self.image, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            steps.attach(image, self.image, self.folder.name)
        finally:
            os.close(image)

    def notes(self) -> tuple[str, ...]:
        """Say that the device is a model."""
        return (f"{self.device.name} is a model, not a drive: {self.model}",)

    def tune(self) -> tuple[Change, ...]:
        """Prepare the queue of its loop device, with the depth of the drive."""
        assert self.drive is not None, "rebuilt from a journal"
        return (DriveQueue.prepare(self.device, self.drive),)

    def watch(self) -> FindDiskState:
        """Watch the lateness of its completions."""
        start = DriveStatistics.from_json(self.read_statistics())

        def find() -> DiskState:
            passed = DriveStatistics.from_json(self.read_statistics()).since(start)
            figures = passed.figures() if passed.commands else {}
            return DiskState(self.device.name, figures, passed.invalid_reason())

        return find

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Kill the server, detach, unmount, and remove the folder.

        OutOfReachError, after the detach, if the file system of the folder is not mounted there.
        """
        del policy
        was_there = drive_server.kill(self.folder) or os.path.lexists(self.folder)
        steps.detach(self.image, self.folder.name)
        steps.unmount(self.served)
        steps.remove_file(self.socket)
        for path in (self.served, self.mount_point, self.folder):
            steps.remove_folder(path)
        if not was_there and self.location is not None:
            self.location.require(self.folder, f"to remove the {self.describe()}")
        return (f"{self.describe()}: removed",) if was_there else ()

    def read_statistics(self) -> dict[str, Any]:
        """Read the statistics of the server; TargetError if it has ended."""
        try:
            return drive_server.read_statistics(self.served)
        except OSError as error:
            raise TargetError(
                "the statistics of the modelled drive",
                found=error.strerror or str(error),
                where=str(self.served),
                remedy="its server has ended; `iostudy restore` removes the rest",
            ) from error


def prepare_drives(parent: Path, models: Sequence[str], size_bytes: int) -> list[ModelledDrive]:
    """Prepare a drive of each model; TargetError without memory for the data of all."""
    _require_memory(len(models) * size_bytes)
    return [ModelledDrive.prepare(parent, model, size_bytes) for model in models]


def _require_memory(size_bytes: int) -> None:
    limit = _memory_limit()
    if size_bytes > limit:
        raise TargetError(
            f"memory for {units.format_size(size_bytes)} of data of modelled drives",
            found=f"{units.format_rounded_size(limit)}, half of what is available",
            where="this host",
            remedy="give a smaller size",
        )


def _memory_limit() -> int:
    return int(available_memory() * _MEMORY_SHARE)


def available_memory() -> int:
    """Bytes that programs can still allocate (MemAvailable of proc_meminfo(5))."""
    return read_memory_bytes("MemAvailable") or 0
