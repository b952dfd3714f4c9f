"""Kind of a block device, as far as the kernel shows it.

Source: Documentation/ABI/stable/sysfs-block (queue/rotational, queue/zoned), the devices' major
names in Documentation/admin-guide/devices.txt, and the models that hypervisors give their disks.
"""

from __future__ import annotations

import re
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
_BY_NAME = (
    (re.compile(r"loop\d"), DeviceKind.LOOP),
    (re.compile(r"md[_\d]"), DeviceKind.ARRAY),
    (re.compile(r"(ram|zram)\d"), DeviceKind.MEMORY),
    (re.compile(r"sr\d"), DeviceKind.OPTICAL),
    (re.compile(r"(nbd|rbd|drbd)\d"), DeviceKind.NETWORK),
    (re.compile(r"(vd|xvd)[a-z]"), DeviceKind.VIRTUAL),
)
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
    if device.name.startswith("nvme") and device.slaves:
        return DeviceKind.MULTIPATH
    named = (kind for pattern, kind in _BY_NAME if pattern.match(device.name))
    return next(named, None) or _kind_of_disk(device, root)


def _kind_of_disk(device: BlockDevice, root: Path) -> DeviceKind:
    if _is_virtual(device, root):
        return DeviceKind.VIRTUAL
    if device.name.startswith("nvme"):
        return DeviceKind.NVME
    return {True: DeviceKind.ROTATIONAL, False: DeviceKind.SSD, None: DeviceKind.UNKNOWN}[
        device.rotational
    ]


def read_zoned_model(device: BlockDevice, root: Path = ROOT) -> str:
    """``none``, ``host-aware`` or ``host-managed``; kernels before 4.10 know no zones."""
    text = read_attribute(devices.queue_folder(device, root) / "zoned") or NOT_ZONED
    return text.strip()


def _is_virtual(device: BlockDevice, root: Path) -> bool:
    folder = root / "sys/class/block" / device.name / "device"
    texts = (device.model, read_attribute(folder / "vendor") or "")
    return any(word in text.lower() for text in texts for word in _HYPERVISORS)
