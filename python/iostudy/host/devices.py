"""Block devices and their queues in sysfs.

Source: Documentation/ABI/stable/sysfs-block and Documentation/ABI/testing/sysfs-block.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import ROOT, KernelChoice, parse_choice, read_attribute, read_number

SECTOR_BYTES = 512
"""The unit of ``size`` in sysfs, independent of the device's block size."""

_NAME_MAX = 255
"""The longest file name in sysfs as elsewhere (path_resolution(7)); asking for more is an error."""

_NVME_DISK = re.compile(r"(nvme\d+)(n\d+)")
_NVME_PATH = re.compile(r"(nvme\d+)c\d+(n\d+)")
_OF_DISKSTATS = re.compile(r" *(\d+) +(\d+) (\S+) ")

DELETED = " (deleted)"
"""The kernel's suffix of a loop device's unlinked backing file."""


@dataclass(frozen=True)
class BlockDevice:
    """A disk, partition, volume or loop device.

    ``name`` is the kernel's (``sda1``, ``dm-0``, ``cciss!c0d0``), ``number`` is major:minor.
    ``wwid`` and ``serial`` are empty where the device has none. ``partition_of`` names the disk;
    ``holders`` the devices built on this one, ``slaves`` those this one is built on, ``partitions``
    the parts of a disk. ``backing_file`` is a loop device's; ``diskseq`` (Linux 5.15) is a number
    that no other disk gets until the next boot. ``bus`` is the subsystem of the hardware behind a
    disk (``scsi``, ``nvme``, ``virtio``), empty where a driver alone makes the device, as it makes
    volumes. ``wwid_file`` is the attribute with the WWID.

    An NVMe disk that may have several controllers is a device (``nvme0n1``) built on one for each
    path (``nvme0c0n1``), which has the queue; so are its partitions. Paths are ``hidden``: they
    have no node, and udev gets no event of them. Source: drivers/nvme/host/multipath.c.
    """

    name: str
    number: str
    size_bytes: int
    read_only: bool
    rotational: bool | None
    model: str
    serial: str
    wwid: str
    partition_of: str | None
    partitions: tuple[str, ...]
    holders: tuple[str, ...]
    slaves: tuple[str, ...]
    backing_file: Path | None
    diskseq: int | None
    hidden: bool
    bus: str = ""
    wwid_file: str = ""

    @property
    def path(self) -> Path:
        """The node below /dev, of a path that of its disk.

        The kernel writes a slash in a name as an exclamation mark.
        """
        name = _NVME_PATH.sub(r"\1\2", self.name) if self.hidden else self.name
        return Path("/dev") / udev_name(name)

    @property
    def disk(self) -> str:
        """The whole disk's name, which has the queue; its own if it is no partition."""
        return self.partition_of or self.name


def udev_name(name: str) -> str:
    """``cciss!c0d0`` -> ``cciss/c0d0``, as /proc/diskstats and udev (sd-device.c) have it."""
    return name.replace("!", "/")


@dataclass(frozen=True)
class Scheduler(KernelChoice):
    """The scheduler of a queue, and the available ones."""

    @property
    def schedules(self) -> bool:
        """Whether there is a choice other than ``none``."""
        return any(name != "none" for name in self.available)


def parse_scheduler(text: str) -> Scheduler:
    """``none [mq-deadline] bfq`` -> current and offered; ValueError for text of another form.

    Kernels show a queue that never schedules as ``none`` without brackets.
    """
    chosen = parse_choice(text)
    return Scheduler(chosen.current, chosen.available)


def device_exists(name: str, root: Path = ROOT) -> bool:
    """Whether the kernel has a block device of that name; ``.`` and ``..`` are directories."""
    if name in (".", "..") or len(os.fsencode(name)) > _NAME_MAX:
        return False
    return class_folder(name, root).exists()


def read_device(name: str, root: Path = ROOT) -> BlockDevice:
    """Return the block device of that kernel name; FileNotFoundError if it is unknown."""
    folder = class_folder(name, root).resolve(strict=True)
    is_partition = (folder / "partition").exists()
    disk = folder.parent if is_partition else folder
    wwid, wwid_file = _first(disk, "wwid", "device/wwid", "dm/uuid", "md/uuid")
    rotational = read_number(disk / "queue/rotational")
    return BlockDevice(
        name=folder.name,
        number=read_attribute(folder / "dev") or _number_in_diskstats(folder.name, root),
        size_bytes=(read_number(folder / "size") or 0) * SECTOR_BYTES,
        read_only=read_number(folder / "ro") == 1,
        rotational=None if rotational is None else rotational == 1,
        model=_first(disk, "device/model")[0],
        serial=_first(disk, "serial", "device/serial")[0],
        wwid=wwid,
        partition_of=disk.name if is_partition else None,
        partitions=_names(child.parent for child in folder.glob("*/partition")),
        holders=_names((folder / "holders").glob("*")),
        slaves=_names((folder / "slaves").glob("*")) or _nvme_paths(disk.name, root),
        backing_file=_backing_file(folder),
        diskseq=read_number(disk / "diskseq"),
        hidden=read_number(folder / "hidden") == 1,
        bus=_bus(disk / "device"),
        wwid_file=wwid_file,
    )


def read_device_by_number(number: str, root: Path = ROOT) -> BlockDevice | None:
    """The block device with that major:minor, None if it is no block device's."""
    folder = root / "sys/dev/block" / number
    return read_device(folder.resolve().name, root) if folder.exists() else None


def disk_names(root: Path = ROOT) -> tuple[str, ...]:
    """Return all disks and volumes (no partitions), by name."""
    return _names((root / "sys/block").glob("*"))


def read_disks(root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return all disks and volumes that are still present."""
    return read_present_devices(disk_names(root), root)


def read_present_devices(names: Iterable[str], root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """Return the devices of those names that are still present."""
    present = []
    for name in names:
        with suppress(FileNotFoundError):
            present.append(read_device(name, root))
    return tuple(present)


def with_partitions(disks: Iterable[BlockDevice]) -> Iterator[BlockDevice]:
    """Yield each disk and its partitions.

    A bio has the number of its partition, a request that of its disk.
    """
    for disk in disks:
        yield disk
        yield from read_present_devices(disk.partitions)


def find_loop_devices(backing_file: Path, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """The loop devices attached to that file, also when it has been unlinked.

    The file is known by its name and that of its folder, which must be unique. If its mount has
    ended with a mount namespace, the kernel shows the path from the root of that mount.
    """
    named, disks = backing_file.parts[-2:], (root / "sys/block").glob("*")
    names = _names(d for d in disks if (file := _backing_file(d)) and file.parts[-2:] == named)
    return read_present_devices(names, root)


def queue_folder(device: BlockDevice, root: Path = ROOT) -> Path:
    """Return the folder of queue attributes of the device or of its disk."""
    return root / "sys/block" / device.disk / "queue"


def read_scheduler(device: BlockDevice, root: Path = ROOT) -> Scheduler | None:
    """Return the scheduler of the device's queue, None for a queue without one."""
    text = read_attribute(queue_folder(device, root) / "scheduler")
    return parse_scheduler(text) if text else None


def class_folder(name: str, root: Path = ROOT) -> Path:
    """The link to the device's folder in sysfs, whether a disk or a part of one."""
    return root / "sys/class/block" / name


def _number_in_diskstats(name: str, root: Path) -> str:
    """Return the number from /proc/diskstats, for devices without a node in sysfs."""
    lines = (read_attribute(root / "proc/diskstats") or "").splitlines()
    rows = (match.groups() for line in lines if (match := _OF_DISKSTATS.match(line)))
    return next((f"{major}:{minor}" for major, minor, device in rows if device == name), "")


def _nvme_paths(name: str, root: Path) -> tuple[str, ...]:
    """Return the paths to an NVMe disk, which sysfs does not list as its slaves."""
    disk = _NVME_DISK.fullmatch(name)
    return _names((root / "sys/block").glob(f"{disk[1]}c*{disk[2]}")) if disk else ()


def _backing_file(folder: Path) -> Path | None:
    text = read_attribute(folder / "loop/backing_file")
    return Path(text.removesuffix(DELETED)) if text else None


def _first(folder: Path, *attributes: str) -> tuple[str, str]:
    """Return the first text with content, and its attribute; disks pad these texts with blanks."""
    texts = (((read_attribute(folder / name) or "").strip(), name) for name in attributes)
    return next((pair for pair in texts if pair[0]), ("", ""))


def _bus(device: Path) -> str:
    """Return the subsystem of the device that sysfs links to a disk; empty without such a link."""
    if not device.exists():
        return ""
    subsystem = device / "subsystem"
    return subsystem.resolve().name if subsystem.exists() else "unknown"


def _names(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in paths))
