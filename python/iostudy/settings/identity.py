"""Identities of devices, disks, processes and namespaces that survive the reuse of names."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from iostudy import units
from iostudy.errors import OutOfReachError
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.host.namespaces import Namespace
from iostudy.host.processes import read_start_ticks
from iostudy.settings.change import Record

_LOOP_MAJOR = "7:"
"""Source: Documentation/admin-guide/devices.txt."""


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
    def from_device(cls, device: BlockDevice) -> DeviceIdentity:
        """Build from a current device."""
        node = devices.class_folder(device.name).stat().st_ino
        return cls(device.name, device.number, device.diskseq, _unique(device), boot_id(), node)

    @classmethod
    def from_record(cls, record: Record) -> DeviceIdentity:
        return cls(**record)

    def record(self) -> Record:
        return asdict(self)

    def absence_reason(self) -> str | None:
        """Return why the device is gone, whatever its medium; None while it exists."""
        if self.boot != boot_id():
            return "the host has been rebooted"
        try:
            same = self._has_queue_of(devices.read_device(self.name))
        except FileNotFoundError:
            return "the device is gone"
        return None if same else "another device has its name now"

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop device, which keeps nothing itself."""
        return self.number.startswith(_LOOP_MAJOR)

    def require_same_disk(self, wanted: str, by_hand: str) -> None:
        """OutOfReachError unless the same disk has this name and number, also after a reboot."""
        reason = self.absence_reason()
        if reason is None:
            return
        with suppress(FileNotFoundError):
            now = devices.read_device(self.name)
            if self.unique and (now.number, _unique(now)) == (self.number, self.unique):
                return
        identity = self.unique or "no WWID or serial number"
        raise OutOfReachError(
            wanted,
            found=f"{reason}, and its disk ({identity}) is not found under its name and number",
            where=self.name,
            remedy=f"{by_hand}, with the name that the disk has now; then `iostudy restore "
            "--accept` forgets it",
        )

    def _has_queue_of(self, device: BlockDevice) -> bool:
        """Return whether that is the same device, so that its queue has our changes.

        Kernels before 5.5 reuse inode numbers and have no diskseq: all other fields must match
        there. A detached loop device has lost its backing file, but not its queue.
        """
        now = DeviceIdentity.from_device(device)
        if self.diskseq is not None:
            return now.node == self.node
        if self.is_loop and device.backing_file is None:
            now = replace(now, unique=self.unique)
        return now == self


@dataclass(frozen=True)
class ScratchIdentity:
    """A confirmed device whose content may be destroyed."""

    device: DeviceIdentity
    size_bytes: int

    @classmethod
    def from_path(cls, path: Path) -> ScratchIdentity:
        """Build from the device of the node ``path``; TargetError without one."""
        (device,) = stack.find_devices(path)
        return cls.from_device(device)

    @classmethod
    def from_device(cls, device: BlockDevice) -> ScratchIdentity:
        """Build from a current device."""
        return cls(DeviceIdentity.from_device(device), device.size_bytes)

    @classmethod
    def from_record(cls, record: Record) -> ScratchIdentity:
        return cls(DeviceIdentity.from_record(record["device"]), record.get("size_bytes", 0))

    def record(self) -> Record:
        return {"device": self.device.record(), "size_bytes": self.size_bytes}

    def is_present(self) -> bool:
        """Return whether the device of that name is still this one."""
        try:
            return self.matches(devices.read_device(self.device.name))
        except FileNotFoundError:
            return False

    def find(self) -> BlockDevice | None:
        """Return the device, also under another name after a reboot; None if it is not found.

        After a reboot only a whole disk with a WWID or a serial number can be found.
        """
        if self.is_present():
            return devices.read_device(self.device.name)
        if self.device.boot == boot_id() or not self.device.unique:
            return None
        same = (
            disk
            for disk in devices.read_disks()
            if (_unique(disk), disk.size_bytes) == (self.device.unique, self.size_bytes)
        )
        return next(same, None)

    def matches(self, device: BlockDevice) -> bool:
        """Return whether it is this device, with the same content and size.

        A diskseq alone decides: the backing file of a loop device may have moved.
        """
        now = ScratchIdentity.from_device(device)
        if self.device.diskseq is not None:
            now = replace(now, device=replace(now.device, unique=self.device.unique))
        return now == self


@dataclass(frozen=True)
class ProcessIdentity:
    """A process during one boot.

    ``start_ticks`` is its start in clock ticks since the boot: the kernel reuses process numbers.
    Source: proc_pid_stat(5).
    """

    pid: int
    start_ticks: int
    boot: str

    @classmethod
    def current(cls) -> ProcessIdentity:
        """Build from this process."""
        pid = os.getpid()
        ticks = read_start_ticks(pid)
        assert ticks is not None, "a process that asks is there"
        return cls(pid, ticks, boot_id())

    @classmethod
    def from_record(cls, record: Record) -> ProcessIdentity:
        return cls(**record)

    def record(self) -> Record:
        return asdict(self)

    def absence_reason(self) -> str | None:
        """Return why this process is gone; None while it exists."""
        alive = self.boot == boot_id() and read_start_ticks(self.pid) == self.start_ticks
        return None if alive else "the process has ended"


@dataclass(frozen=True)
class DiskIdentity:
    """A disk or a partition, identified independently of its current name.

    ``unique`` is its WWID or serial number, or the backing file of a loop device; it may be empty.
    ``part`` is the partition (``1``, ``p1``), empty for a whole disk.
    """

    name: str
    unique: str
    part: str
    model: str
    size_bytes: int

    @classmethod
    def from_path(cls, path: Path) -> DiskIdentity:
        """Build from the device of the node ``path``; TargetError without one."""
        (device,) = stack.find_devices(path)
        return cls.from_device(device)

    @classmethod
    def from_device(cls, device: BlockDevice) -> DiskIdentity:
        """Build from a current device."""
        part = device.name.removeprefix(device.disk)
        return cls(device.name, _unique(device), part, device.model, device.size_bytes)

    def describe(self) -> str:
        """``sdb: SAMSUNG MZ7LH960 (naa.5002538e40a2b3c4), 894.25 GiB``, for a person to confirm."""
        identity = f" ({self.unique})" if self.unique else ""
        size = units.format_size(self.size_bytes)
        return f"{self.name}: {self.model or 'a device without a model name'}{identity}, {size}"

    def stable(self) -> str:
        """Return an identifier that survives a reboot; the name only if there is no other."""
        size = units.format_size(self.size_bytes)
        return ", ".join(filter(None, (self.unique or self.name, self.part, self.model, size)))


def _unique(device: BlockDevice) -> str:
    return device.wwid or device.serial or str(device.backing_file or "")


_NAMESPACES = {"mnt": ("mount", "mount"), "net": ("network", "net"), "ipc": ("IPC", "ipc")}
"""The adjective of each kind, and the option of nsenter(1)."""


def end_of_namespace(namespace: Namespace | None, wanted: str, where: str) -> str | None:
    """Return why the namespace of a change is gone; None in that namespace, or without one.

    OutOfReachError if it may still exist.
    """
    if namespace is None or namespace == Namespace.current(namespace.kind):
        return None
    kind, _ = _NAMESPACES[namespace.kind]
    if namespace.is_gone():
        return f"its {kind} namespace has ended"
    raise OutOfReachError(
        wanted,
        found=f"it is in another {kind} namespace ({namespace.kind}:[{namespace.inode}])",
        where=where,
        remedy=namespace_remedy(namespace.process(), namespace.kind),
    )


def namespace_remedy(process: int | None, kind: str = "mnt") -> str:
    """Suggest how to restore a change in another namespace."""
    adjective, option = _NAMESPACES[kind]
    file = f"/proc/{process}/ns/{kind}" if process else f"the file of the {adjective} namespace"
    return (
        f"run `nsenter --{option}={file} iostudy restore`, or end what uses it and run `iostudy "
        "restore`; `iostudy restore --accept` leaves it as it is"
    )


def boot_id() -> str:
    """Return the identifier of this boot (random(4))."""
    return read_attribute(ROOT / "proc/sys/kernel/random/boot_id") or ""
