"""Settings to keep, with their values and their disks or mounts (values only)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iostudy.host.device_kinds import NOT_ZONED

_MULTIPATH = "mpath-"
"""How the UUID of a device-mapper volume begins whose slaves are paths to one disk (multipathd)."""


Inventory = Mapping[str, Any]
"""Kernel name -> device, as ``block_devices`` of `iostudy.host.inventory` has them."""


@dataclass(frozen=True)
class Disk:
    """A disk or volume as an inventory describes it.

    ``wwid`` and ``serial`` are empty where it tells none. ``multipath``: it is one of several paths
    to a disk, or what multipathd makes of them. ``hidden``: udev is told nothing of it, as of the
    paths to an NVMe disk, whose WWID is the disk's as well. ``named``: somebody has named it on the
    command line, so that its kernel name may stand for it. ``here`` is the name it has on this host
    now, empty where it is not there.
    """

    name: str
    wwid: str = ""
    serial: str = ""
    model: str = ""
    zoned: bool = False
    multipath: bool = False
    hidden: bool = False
    named: bool = False
    here: str = ""

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
    def described(cls, name: str, inventory: Inventory, *, named: bool = False) -> Disk:
        """The disk of that kernel name; one that is not in the inventory has only its name.

        Whether it is ``here`` is for the caller to tell.
        """
        result = inventory.get(name, {})
        uuids = (result, *(inventory.get(holder, {}) for holder in result.get("holders", ())))
        return cls(
            name=name,
            wwid=result.get("wwid") or "",
            serial=result.get("serial") or "",
            model=result.get("model") or "",
            zoned=result.get("queue", {}).get("zoned", NOT_ZONED) != NOT_ZONED,
            multipath=any((device.get("wwid") or "").startswith(_MULTIPATH) for device in uuids),
            hidden=bool(result.get("hidden")),
            named=named,
        )

    def found_in(self, inventory: Inventory) -> Disk:
        """The same disk with the name that it has in the inventory of this host.

        A disk without WWID and serial number is taken for the one of its name if it was named.
        """
        known, is_known = (self.wwid, self.serial, self.hidden), bool(self.wwid or self.serial)
        there = (Disk.described(name, inventory) for name in inventory)
        same = (d.name for d in there if is_known and (d.wwid, d.serial, d.hidden) == known)
        by_name = self.name if self.named and not is_known and self.name in inventory else ""
        return replace(self, here=next(same, by_name))


@dataclass(frozen=True)
class PersistedSetting:
    """A setting to keep; without disk and mount point, for the whole host."""

    name: str
    value: str
    disk: Disk | None = None
    mount_point: Path | None = None

    @property
    def label(self) -> str:
        """``block.scheduler@sda``, as the ledger has it."""
        place = self.disk.name if self.disk else self.mount_point
        return f"{self.name}@{place}" if place else self.name

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
    """Everything that is to be kept, and what it comes from: a study's configuration, or `set`.

    ``notes`` say what else belongs to the choice and is no setting of the host.
    """

    origin: str
    settings: tuple[PersistedSetting, ...]
    notes: tuple[str, ...] = ()
