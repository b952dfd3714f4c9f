"""What is to be kept: a setting, its value, and the disk or mount it holds for (values alone)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostudy.host.kinds import NOT_ZONED

_MULTIPATH = "mpath-"
"""How the UUID of a device-mapper volume begins whose slaves are paths to one disk (multipathd)."""


@dataclass(frozen=True)
class Disk:
    """A disk or volume as an inventory describes it.

    ``wwid`` and ``serial`` are empty where it tells none. ``multipath``: it is one of several paths
    to a disk, or what multipathd makes of them. ``named``: somebody has named it on the command
    line, so that its kernel name may stand for it.
    """

    name: str
    wwid: str = ""
    serial: str = ""
    model: str = ""
    zoned: bool = False
    multipath: bool = False
    named: bool = False

    @classmethod
    def described(cls, name: str, inventory: Mapping[str, Any], *, named: bool = False) -> Disk:
        """The disk of that kernel name in ``block_devices`` of `iostudy.host.inventory`.

        One that is not in there is known by its name alone.
        """
        told = inventory.get(name, {})
        uuids = (told, *(inventory.get(holder, {}) for holder in told.get("holders", ())))
        return cls(
            name=name,
            wwid=told.get("wwid") or "",
            serial=told.get("serial") or "",
            model=told.get("model") or "",
            zoned=told.get("queue", {}).get("zoned", NOT_ZONED) != NOT_ZONED,
            multipath=any((device.get("wwid") or "").startswith(_MULTIPATH) for device in uuids),
            named=named,
        )


@dataclass(frozen=True)
class Kept:
    """A setting that is to hold from now on; without disk and mount point, for the whole host."""

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
class Choice:
    """Everything that is to be kept, and what it comes from: a study's configuration, or `set`.

    ``notes`` say what else belongs to the choice and is no setting of the host.
    """

    origin: str
    kept: tuple[Kept, ...]
    notes: tuple[str, ...] = ()
