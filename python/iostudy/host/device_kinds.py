"""Kind of a block device, as far as the kernel shows it.

sysfs shows it without a list of names: a disk has a ``device``, a volume has ``slaves``, and some
drivers have a file or folder of their own. Source: Documentation/ABI/stable/sysfs-block
(queue/rotational, queue/zoned), Documentation/ABI/testing/sysfs-block-zram,
drivers/block/{loop,nbd}.c of the kernel, and the models that hypervisors give their disks.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from iostudy.host import devices, volumes
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute


class DeviceKind(StrEnum):
    """The kind of a device; the value is its display name."""

    ROTATIONAL = "rotational disk"
    SSD = "SSD"
    NVME = "NVMe"
    VIRTUAL = "virtual disk"
    NETWORK = "network disk"
    MEMORY = "in memory"
    OPTICAL = "optical"
    PARTITION = "partition"
    LOOP = "loop"
    ARRAY = "md"
    LVM = "LVM"
    MULTIPATH = "multipath"
    CRYPT = "encrypted"
    MAPPED = "device-mapper"
    VOLUME = "volume"
    SOFTWARE = "software device"
    UNKNOWN = "disk"

    @property
    def is_disk(self) -> bool:
        """Whether it is a physical or virtual disk, not built from devices or memory."""
        return self in _DISKS


_DISKS = frozenset(
    {
        DeviceKind.ROTATIONAL,
        DeviceKind.SSD,
        DeviceKind.NVME,
        DeviceKind.VIRTUAL,
        DeviceKind.NETWORK,
        DeviceKind.UNKNOWN,
    }
)
_BY_FILE = (
    ("md", DeviceKind.ARRAY),
    ("loop", DeviceKind.LOOP),
    ("comp_algorithm", DeviceKind.MEMORY),
    ("pid", DeviceKind.NETWORK),
)
"""Entries of sysfs that only devices of md, loop, zram and nbd have."""
_BY_BUS = {
    "virtio": DeviceKind.VIRTUAL,
    "xen": DeviceKind.VIRTUAL,
    "rbd": DeviceKind.NETWORK,
    "nvme": DeviceKind.NVME,
    "nvme-subsystem": DeviceKind.NVME,
}
_CD_ROM = "5"
"""The SCSI peripheral device type of a CD-ROM (device/type)."""
_BY_MAKER = {"LVM": DeviceKind.LVM, "mpath": DeviceKind.MULTIPATH, "CRYPT": DeviceKind.CRYPT}
_HYPERVISORS = ("qemu", "vbox", "vmware", "msft", "virtio", "google", "elastic block store")
NOT_ZONED = "none"


def detect_kind(device: BlockDevice, root: Path = ROOT) -> DeviceKind:
    """Return the kind of a device; UNKNOWN for a disk without a description."""
    if device.partition_of:
        return DeviceKind.PARTITION
    mapping = volumes.read_mapping(device, root)
    if mapping:
        return _BY_MAKER.get(mapping.maker, DeviceKind.MAPPED)
    if device.bus:
        return _kind_of_disk(device, root)
    folder = devices.class_folder(device.name, root)
    shown = (kind for name, kind in _BY_FILE if (folder / name).exists())
    return next(shown, DeviceKind.VOLUME if device.slaves else DeviceKind.SOFTWARE)


def _kind_of_disk(device: BlockDevice, root: Path) -> DeviceKind:
    if device.slaves:
        return DeviceKind.MULTIPATH
    folder = devices.class_folder(device.name, root) / "device"
    makers = (device.model, read_attribute(folder / "vendor") or "")
    if any(word in maker.lower() for maker in makers for word in _HYPERVISORS):
        return DeviceKind.VIRTUAL
    kind = read_attribute(folder / "type")
    if device.bus == "scsi" and (kind or "").strip() == _CD_ROM:
        return DeviceKind.OPTICAL
    return (
        _BY_BUS.get(device.bus)
        or {True: DeviceKind.ROTATIONAL, False: DeviceKind.SSD, None: DeviceKind.UNKNOWN}[
            device.rotational
        ]
    )


def read_zoned_model(device: BlockDevice, root: Path = ROOT) -> str:
    """``none``, ``host-aware`` or ``host-managed``; kernels before 4.10 know no zones."""
    text = read_attribute(devices.queue_folder(device, root) / "zoned") or NOT_ZONED
    return text.strip()
