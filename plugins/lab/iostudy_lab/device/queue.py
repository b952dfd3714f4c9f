"""Queue of a modelled drive's loop device: depth, rotation and scheduler.

A loop device has 128 tags. Written while the scheduler is ``none``, nr_requests limits them, and
the limit stays under every later scheduler. So the scheduler holds what exceeds the drive's queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy.errors import RestoreError, TargetError
from iostudy.host.devices import BlockDevice, parse_scheduler
from iostudy.host.files import ROOT, read_attribute, read_number, write_attribute
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.identity import DeviceIdentity
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash

_NONE = "none"
_DEFAULT = "mq-deadline"
"""What the kernel chooses for a disk with one hardware queue."""
_LOOP_TAGS = 128
"""Depth of a loop device's own queue (drivers/block/loop.c), which also limits deeper drives."""
_MAX_SECTORS_KB = 256
"""Most data of one command; a FUSE request holds 1 MiB. A reply copies its data after the deadline.
Of 1 MiB that alone takes most of the permitted lateness (docs/drives.md).
"""
_KEPT = ("rotational", "max_sectors_kb", "read_ahead_kb")


@dataclass(frozen=True)
class DriveQueue:
    """The queue as the drive needs it. The original belongs to the loop device, which outlives it.

    ``tags`` is the depth of the loop device's own queue.
    """

    kind: ClassVar[str] = "drive-queue"

    device: DeviceIdentity
    depth: int
    rotational: bool
    tags: int
    original: Mapping[str, str]

    @classmethod
    def prepare(cls, loop: BlockDevice, drive: Disk | Flash) -> DriveQueue:
        """Prepare it for a drive that is served as a loop device; reads the current values."""
        device = DeviceIdentity.from_device(loop)
        original = {name: _read(device, name) for name in (*_KEPT, "nr_requests")}
        original["scheduler"] = parse_scheduler(_read(device, "scheduler")).current
        tags = read_number(ROOT / "sys/block" / device.name / "mq/0/nr_tags") or _LOOP_TAGS
        depth = min(drive.depth, tags)
        return cls(device, depth, drive.rotates, tags, original)

    @classmethod
    def from_record(cls, record: Record) -> DriveQueue:
        """Rebuild from the journal."""
        return cls(**{**record, "device": DeviceIdentity.from_record(record["device"])})

    def record(self) -> Record:
        """Return device, depth and original values."""
        return {
            "device": self.device.record(),
            "depth": self.depth,
            "rotational": self.rotational,
            "tags": self.tags,
            "original": dict(self.original),
        }

    def describe(self) -> str:
        """Describe the change."""
        return f"queue of {self.device.name}: depth {self.depth} of a modelled drive"

    def apply(self) -> None:
        """Write the depth under ``none``, then rotation, then the scheduler; read the depth back.

        TargetError if the kernel refuses, or keeps another depth.
        """
        try:
            self._write("scheduler", _NONE)
            self._write("nr_requests", str(self.depth))
            self._write("rotational", str(int(self.rotational)))
            self._write("max_sectors_kb", str(_MAX_SECTORS_KB))
            if _DEFAULT in parse_scheduler(_read(self.device, "scheduler")).available:
                self._write("scheduler", _DEFAULT)
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error
        depth = read_driver_depth(self.device.name)
        if depth is not None and depth != self.depth:
            raise self._failed(f"{depth} tags")

    def affected_resources(self) -> tuple[str, ...]:
        """Return none: the loop device belongs to the drive."""
        return ()

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Restore the queue of the loop device, also under a dead server."""
        del policy
        if self.device.absence_reason() is not None:
            return ()
        try:
            self._write("scheduler", _NONE)
            self._write("nr_requests", str(self.tags))
            for name in _KEPT:
                self._write(name, self.original[name])
            self._write("scheduler", self.original["scheduler"])
            self._write("nr_requests", self.original["nr_requests"])
        except OSError as error:
            raise RestoreError(
                f"the original {self.describe()}",
                found=error.strerror or str(error),
                where=self.device.name,
                remedy="see dmesg; `iostudy restore` tries again",
            ) from error
        return ()

    def _write(self, name: str, value: str) -> None:
        write_attribute(_folder(self.device) / name, value)

    def _failed(self, found: str) -> TargetError:
        return TargetError(
            f"a queue of {self.depth} commands for the modelled drive",
            found=found,
            where=str(_folder(self.device)),
            remedy="run as root; see dmesg for what the kernel refused",
        )


def read_driver_depth(device: str) -> int | None:
    """Depth of the driver's tags in debugfs; None where that is not mounted."""
    text = read_attribute(ROOT / "sys/kernel/debug/block" / device / "hctx0/tags")
    fields = dict(line.split("=", 1) for line in (text or "").splitlines() if "=" in line)
    return int(fields["depth"]) if "depth" in fields else None


def _folder(device: DeviceIdentity) -> Path:
    return ROOT / "sys/block" / device.name / "queue"


def _read(device: DeviceIdentity, name: str) -> str:
    return read_attribute(_folder(device) / name) or ""
