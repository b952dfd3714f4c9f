"""Facts about the host, the input of all rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.configuration.assignment import Assignment
from iostudy.host.devices import Scheduler
from iostudy.host.processes import TUNED, Daemon
from iostudy.host.topology import DeviceNode, MountEntry, Topology

_STORAGE_SYSCTLS = (
    "vm.",
    "fs.file-max",
    "fs.aio-max-nr",
    "fs.epoll.",
    "net.core.",
    "net.ipv4.tcp_",
)


def is_storage(key: str) -> bool:
    """Return whether storage studies vary this sysctl: memory, files, network buffers."""
    return key.startswith(_STORAGE_SYSCTLS)


@dataclass(frozen=True)
class DeviceFacts:
    """A device with the attributes that rules read.

    ``queue`` has the texts of the queue's attributes, those of the whole disk for a partition.
    ``start_bytes`` and ``alignment_offset_bytes`` are None if the kernel has none.
    ``queue_depth`` is the command limit of a SCSI or ATA device. ``is_ata``: an ATA disk on an
    ATA or SAS controller, not behind a USB bridge.
    """

    node: DeviceNode
    queue: Mapping[str, str]
    scheduler: Scheduler | None
    start_bytes: int | None
    alignment_offset_bytes: int | None
    queue_depth: int | None
    is_ata: bool

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.node.name

    def number(self, attribute: str) -> int | None:
        """Return a queue attribute as a number, or None."""
        text = self.queue.get(attribute, "")
        return int(text) if text.isdecimal() else None


@dataclass(frozen=True)
class FilesystemSpace:
    """Space in a file system (statvfs(3)); ``free`` includes root's reserve.

    ``block_bytes`` is the size of its blocks.
    """

    size_bytes: int
    free_bytes: int
    available_bytes: int
    inodes: int
    free_inodes: int
    block_bytes: int

    @property
    def used(self) -> float:
        """Fraction in use of the space available to users, as in df(1)."""
        used = self.size_bytes - self.free_bytes
        return used / (used + self.available_bytes) if used + self.available_bytes else 0.0

    @property
    def used_inodes(self) -> float:
        """The share of inodes in use; 0 for file systems that allocate them on demand."""
        return 1 - self.free_inodes / self.inodes if self.inodes else 0.0


@dataclass(frozen=True)
class HostFacts:
    """The host as a whole. ``kernel`` is (major, minor); ``sysctls`` are those that rules look at.

    ``disk_swaps`` are the swap areas outside of memory.
    """

    kernel: tuple[int, int]
    memory_bytes: int | None
    sysctls: Mapping[str, str]
    thp_enabled: str
    thp_defrag: str
    disk_swaps: tuple[Path, ...]
    daemons: tuple[Daemon, ...]
    tuned_profile: str

    @property
    def runs_hadoop(self) -> bool:
        """Whether a daemon of Hadoop runs."""
        return any(daemon.role != TUNED for daemon in self.daemons)

    def sysctl(self, key: str) -> int | None:
        """Return a sysctl of one whole number, or None."""
        text = self.sysctls.get(key, "")
        return int(text) if text.isdecimal() else None


@dataclass(frozen=True)
class Facts:
    """Input of all rules.

    ``writers`` are the lines of this host's files that set kernel values. ``target`` is the
    requested mount, if any.

    ``refused`` lists unreadable files, which the rules did not evaluate.
    """

    topology: Topology
    devices: tuple[DeviceFacts, ...]
    space: Mapping[Path, FilesystemSpace]
    host: HostFacts
    writers: tuple[Assignment, ...]
    target: MountEntry | None
    refused: tuple[str, ...]

    @property
    def disks(self) -> tuple[DeviceFacts, ...]:
        """The devices that are disks."""
        return tuple(device for device in self.devices if device.node.kind.is_disk)

    @property
    def writable(self) -> tuple[MountEntry, ...]:
        """Writable mounts of block devices, each file system once."""
        places = (p for p in self.topology.places if p.devices and "ro" not in p.options)
        first: dict[str, MountEntry] = {}
        for entry in places:
            first.setdefault(entry.mount.device, entry)
        return tuple(first.values())

    @property
    def place_to_measure(self) -> MountEntry | None:
        """Return the requested mount if it is writable, otherwise the first writable one."""
        targets = [entry for entry in self.writable if entry == self.target]
        return next(iter((*targets, *self.writable)), None)

    def device(self, name: str) -> DeviceFacts:
        """Return the device of that kernel name."""
        return next(device for device in self.devices if device.name == name)

    def place_over(self, name: str) -> MountEntry | None:
        """Return a writable mount whose file system is on that device."""
        places = self.topology.select_related([name]).places
        return next((p for p in self.writable if p in places), None)
