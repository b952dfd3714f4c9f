"""Which device is meant: a name alone may belong to another device by now."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from iostudy import units
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.host.processes import start_ticks
from iostudy.settings.change import Record


@dataclass(frozen=True)
class DeviceIdentity:
    """A block device during one boot, with what is in it.

    ``number`` is major:minor, ``node`` the inode of its folder in sysfs, ``diskseq`` the kernel's
    number of the attached disk (Linux 5.15), ``unique`` its WWID, serial number or backing file,
    ``boot`` the kernel's boot_id. Settings of a queue live in kernel memory, in what the folder
    shows: they go with another boot or another device. A loop device that is attached anew, or a
    card that is changed, keeps its queue.
    """

    name: str
    number: str
    diskseq: int | None
    unique: str
    boot: str
    node: int

    @classmethod
    def of(cls, device: BlockDevice) -> DeviceIdentity:
        """The identity of a device that is there now."""
        node = devices.class_folder(device.name).stat().st_ino
        return cls(device.name, device.number, device.diskseq, _unique(device), boot_id(), node)

    @classmethod
    def from_record(cls, record: Record) -> DeviceIdentity:
        """What ``record`` has kept."""
        return cls(**record)

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    def loss(self) -> str | None:
        """Why the device, whatever is in it, is not there any more; None as long as it is.

        Kernels before 5.5 give an inode number to one folder after another, and none of those tells
        a diskseq: there all that is known must be the same.
        """
        if self.boot != boot_id():
            return "the host has been started anew"
        try:
            now = DeviceIdentity.of(devices.read_device(self.name))
        except FileNotFoundError:
            return "the device is gone"
        same = now == self if self.diskseq is None else now.node == self.node
        return None if same else "another device has its name now"


@dataclass(frozen=True)
class ScratchIdentity:
    """A device whose content may be destroyed: what was confirmed, and nothing else."""

    device: DeviceIdentity
    size_bytes: int

    @classmethod
    def at(cls, path: Path) -> ScratchIdentity:
        """Of the device that the node ``path`` leads to now; TargetError if there is none."""
        (device,) = stack.devices_of(path)
        return cls.of(device)

    @classmethod
    def of(cls, device: BlockDevice) -> ScratchIdentity:
        """Of a device that is there now."""
        return cls(DeviceIdentity.of(device), device.size_bytes)

    @classmethod
    def from_record(cls, record: Record) -> ScratchIdentity:
        """What ``record`` has kept."""
        return cls(DeviceIdentity.from_record(record["device"]), record.get("size_bytes", 0))

    def record(self) -> Record:
        """Plain JSON values."""
        return {"device": self.device.record(), "size_bytes": self.size_bytes}

    def is_present(self) -> bool:
        """Whether the device of that name is still this one."""
        try:
            return self.matches(devices.read_device(self.device.name))
        except FileNotFoundError:
            return False

    def matches(self, device: BlockDevice) -> bool:
        """Whether it is this device, with the same content and size.

        A diskseq says that alone: the backing file of a loop device may have moved.
        """
        now = ScratchIdentity.of(device)
        if self.device.diskseq is not None:
            now = replace(now, device=replace(now.device, unique=self.device.unique))
        return now == self


@dataclass(frozen=True)
class ProcessIdentity:
    """A process during one boot.

    ``start_ticks`` is when it started, in clock ticks since the boot: a number alone may belong to
    another process by now. Source: proc_pid_stat(5).
    """

    pid: int
    start_ticks: int
    boot: str

    @classmethod
    def own(cls) -> ProcessIdentity:
        """Of the process that asks."""
        pid = os.getpid()
        ticks = start_ticks(pid)
        assert ticks is not None, "a process that asks is there"
        return cls(pid, ticks, boot_id())

    @classmethod
    def from_record(cls, record: Record) -> ProcessIdentity:
        """What ``record`` has kept."""
        return cls(**record)

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    def loss(self) -> str | None:
        """Why this process is not there any more, None as long as it is."""
        alive = self.boot == boot_id() and start_ticks(self.pid) == self.start_ticks
        return None if alive else "the process has ended"


@dataclass(frozen=True)
class DiskIdentity:
    """A disk, or a part of one, by what it is and not by the name that it has today.

    ``unique`` is its WWID or serial number, or the backing file of a loop device; empty where the
    device tells none. ``part`` is the partition (``1``, ``p1``), empty for a whole disk.
    """

    name: str
    unique: str
    part: str
    model: str
    size_bytes: int

    @classmethod
    def at(cls, path: Path) -> DiskIdentity:
        """Of the device that the node ``path`` leads to now; TargetError if there is none."""
        (device,) = stack.devices_of(path)
        return cls.of(device)

    @classmethod
    def of(cls, device: BlockDevice) -> DiskIdentity:
        """Of a device that is there now."""
        part = device.name.removeprefix(device.disk)
        return cls(device.name, _unique(device), part, device.model, device.size_bytes)

    def describe(self) -> str:
        """``sdb: SAMSUNG MZ7LH960 (naa.5002538e40a2b3c4), 894.25 GiB``, for a person to confirm."""
        known = f" ({self.unique})" if self.unique else ""
        size = units.format_size(self.size_bytes)
        return f"{self.name}: {self.model or 'a device without a model name'}{known}, {size}"

    def stable(self) -> str:
        """What tells the disk also after a reboot; its name only where nothing else does."""
        size = units.format_size(self.size_bytes)
        return ", ".join(filter(None, (self.unique or self.name, self.part, self.model, size)))


def _unique(device: BlockDevice) -> str:
    return device.wwid or device.serial or str(device.backing_file or "")


def boot_id() -> str:
    """Names this boot of the host (random(4))."""
    return read_attribute(ROOT / "proc/sys/kernel/random/boot_id") or ""
