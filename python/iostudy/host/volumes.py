"""Names of device-mapper, LVM and md devices, and udev's database.

Source: Documentation/ABI/testing/sysfs-block-dm (``dm/name``, ``dm/uuid``); lvm(8), "VALID NAMES",
and libdm-string.c of LVM2 for the form ``group-volume-layer`` with hyphens doubled; md(4), udev's
63-md-raid-arrays.rules for the name that an array's metadata give it.

Source: sd-device/device-private.c of systemd (the form of ``/run/udev/data/bMAJOR:MINOR``). A host
without udev has no such files; the database only adds names and file system types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.host import devices
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute

_LVM = "LVM-"
_IMAGE = re.compile(r"(?P<volume>.*)_[rm]image_\d+")
_HYPHEN = "\0"
"""Stands for a doubled hyphen while a name is taken apart; no name holds it."""


@dataclass(frozen=True)
class LogicalVolume:
    """A logical volume of LVM. ``layer`` names an inner device of one (``real``, ``cow``)."""

    group: str
    name: str
    layer: str = ""

    def __str__(self) -> str:
        return f"{self.group}/{self.name}" + (f" ({self.layer})" if self.layer else "")


@dataclass(frozen=True)
class DeviceMapping:
    """What device-mapper calls a device; the uuid's beginning says who made it (``LVM-``)."""

    name: str
    uuid: str

    @property
    def maker(self) -> str:
        """The subsystem that made it: ``LVM``, ``mpath``, ``CRYPT``, ``part1``; may be empty."""
        return self.uuid.partition("-")[0]

    @property
    def volume(self) -> LogicalVolume | None:
        """Return the logical volume of the device, or None."""
        return parse_lvm_name(self.name) if self.uuid.startswith(_LVM) else None


def parse_lvm_name(name: str) -> LogicalVolume | None:
    """``vg--0-home`` -> group ``vg-0``, volume ``home``; None if it has not two or three parts."""
    parts = [part.replace(_HYPHEN, "-") for part in name.replace("--", _HYPHEN).split("-")]
    if len(parts) not in (2, 3) or not all(parts):
        return None
    return LogicalVolume(*parts)


def volume_of_image(name: str) -> str | None:
    """Return ``vg0/home`` for ``vg0/home_rimage_0``, a copy or stripe of it; None for others."""
    match = _IMAGE.fullmatch(name)
    return match["volume"] if match else None


def read_mapping(device: BlockDevice, root: Path = ROOT) -> DeviceMapping | None:
    """Return the attribute of device-mapper; None for another kind of device."""
    folder = root / "sys/class/block" / device.name / "dm"
    name = read_attribute(folder / "name")
    return DeviceMapping(name, read_attribute(folder / "uuid") or "") if name else None


def find_aliases(device: BlockDevice, root: Path = ROOT) -> tuple[str, ...]:
    """What else the device is called: ``vg0/home`` and ``vg0-home``, or ``md/data``."""
    mapping = read_mapping(device, root)
    if mapping is None:
        array = read_properties(device.number, root).get("MD_DEVNAME")
        return (f"md/{array}",) if array else ()
    volume = mapping.volume
    return (str(volume), mapping.name) if volume else (mapping.name,)


def find_device_by_name(place: str, root: Path = ROOT) -> BlockDevice | None:
    """The device of that name, with or without ``/dev/``: a kernel's, mapper, LVM or array name.

    None if there is no such device, or if ``place`` is a path elsewhere.
    """
    name = place.removeprefix("/dev/").removeprefix("mapper/")
    if not name or name.startswith("/"):
        return None
    kernel_name = name.replace("/", "!")
    if devices.device_exists(kernel_name, root):
        return devices.read_device(kernel_name, root)
    return next((d for d in _volumes(root) if name in find_aliases(d, root)), None)


def find_group_volumes(group: str, root: Path = ROOT) -> tuple[BlockDevice, ...]:
    """The device-mapper devices of that volume group, its volumes' inner ones included."""
    mappings = ((device, read_mapping(device, root)) for device in _volumes(root))
    return tuple(d for d, m in mappings if m and m.volume and m.volume.group == group)


def _volumes(root: Path) -> tuple[BlockDevice, ...]:
    """Return the devices of device-mapper and md: only these have names of volumes."""
    names = (name for name in devices.disk_names(root) if name.startswith(("dm-", "md")))
    return devices.read_present_devices(names, root)


_PROPERTY = "E:"


def read_properties(number: str, root: Path = ROOT) -> Mapping[str, str]:
    """Read the properties of the block device with that major:minor; may be empty."""
    return parse_database(read_attribute(root / "run/udev/data" / f"b{number}") or "")


def parse_database(text: str) -> Mapping[str, str]:
    """Parse the ``E:KEY=VALUE`` lines of a device file; skip links, tags and times."""
    lines = (
        line.removeprefix(_PROPERTY) for line in text.split("\n") if line.startswith(_PROPERTY)
    )
    return dict(line.split("=", 1) for line in lines if "=" in line)
