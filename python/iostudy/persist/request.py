"""Settings to keep, with their values and their disks or mounts (values only)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from iostudy.host.device_kinds import NOT_ZONED
from iostudy.host.devices import udev_name

_MULTIPATH = "mpath-"
"""Prefix of the UUID of a multipath volume, whose slaves are paths to one disk."""


class DiskMatch(StrEnum):
    """What a rule matches: this disk, or all disks of its class."""

    SERIAL = "serial"
    MODEL = "model"
    ROTATIONAL = "rotational"
    NAME_PATTERN = "name-pattern"


Inventory = Mapping[str, Any]
"""Kernel name -> device, as ``block_devices`` of `iostudy.host.inventory` has them."""


@dataclass(frozen=True)
class InventoryDisk:
    """A disk or volume from an inventory.

    ``wwid`` and ``serial`` are empty if unknown. ``multipath``: a path to a multipath disk, or
    multipathd's volume. ``hidden``: invisible to udev, as are the paths to an NVMe disk, which
    share the disk's WWID. ``named``: given on the command line, so that its kernel name
    identifies it. ``rotational`` is the kernel's 0 or 1, empty if unknown. ``bus`` and
    ``wwid_file`` are those of `BlockDevice`. ``here`` is its current name on this host, empty if
    absent.
    """

    name: str
    wwid: str = ""
    serial: str = ""
    model: str = ""
    rotational: str = ""
    zoned: bool = False
    multipath: bool = False
    hidden: bool = False
    named: bool = False
    here: str = ""
    bus: str = ""
    wwid_file: str = ""

    @property
    def udev_name(self) -> str:
        """The name in rules of udev."""
        return udev_name(self.name)

    @property
    def exclusion_reason(self) -> str:
        """Return why no udev rule may configure this disk; empty if one may."""
        if self.multipath:
            return (
                "it is a multipath device or a path of one, which multipathd configures identically"
            )
        hidden = "it is a path to an NVMe disk, for which the kernel sends no events to udev"
        return hidden if self.hidden else ""

    @classmethod
    def described(cls, name: str, inventory: Inventory, *, named: bool = False) -> InventoryDisk:
        """Return the disk of that kernel name; one that the inventory lacks has only its name.

        The caller determines ``here``.
        """
        result = inventory.get(name, {})
        uuids = (result, *(inventory.get(holder, {}) for holder in result.get("holders", ())))
        return cls(
            name=name,
            wwid=result.get("wwid") or "",
            serial=result.get("serial") or "",
            model=result.get("model") or "",
            rotational=result.get("queue", {}).get("rotational", ""),
            zoned=result.get("queue", {}).get("zoned", NOT_ZONED) != NOT_ZONED,
            multipath=any((device.get("wwid") or "").startswith(_MULTIPATH) for device in uuids),
            hidden=bool(result.get("hidden")),
            named=named,
            bus=result.get("bus", ""),
            wwid_file=result.get("wwid_file", ""),
        )

    def found_in(self, inventory: Inventory) -> InventoryDisk:
        """The same disk with the name that it has in the inventory of this host.

        A disk without WWID and serial number matches by its kernel name if the user named it.
        """
        identity, is_known = (self.wwid, self.serial, self.hidden), bool(self.wwid or self.serial)
        there = (InventoryDisk.described(name, inventory) for name in inventory)
        same = (d.name for d in there if is_known and (d.wwid, d.serial, d.hidden) == identity)
        by_name = self.name if self.named and not is_known and self.name in inventory else ""
        return replace(self, here=next(same, by_name))


@dataclass(frozen=True)
class PersistedSetting:
    """A setting to keep; without disk and mount point, for the whole host."""

    name: str
    value: str
    disk: InventoryDisk | None = None
    mount_point: Path | None = None

    @property
    def label(self) -> str:
        """``block.scheduler@sda``, as the ledger has it."""
        where = self.disk.name if self.disk else self.mount_point
        return f"{self.name}@{where}" if where else self.name

    @property
    def text(self) -> str:
        """``block.scheduler@sda = bfq``, for a person."""
        return f"{self.label} = {self.value}"

    @property
    def attribute(self) -> str:
        """The name below its kind: ``sysctl.vm.swappiness`` -> ``vm.swappiness``."""
        return self.name.partition(".")[2]


@dataclass(frozen=True)
class PersistRequest:
    """Settings to keep, and their origin: a study's configuration, or `set`.

    ``notes`` name parts of the choice that are no settings of the host. ``provenance`` are lines
    for the head of each file: verdicts, host, date and version. ``proven``: the configuration was
    shown to be better, or no study is involved. ``match`` is what udev rules match; ``present``
    are the disks of this host.
    """

    origin: str
    settings: tuple[PersistedSetting, ...]
    notes: tuple[str, ...] = ()
    provenance: tuple[str, ...] = ()
    proven: bool = True
    match: DiskMatch = DiskMatch.SERIAL
    present: tuple[InventoryDisk, ...] = ()
