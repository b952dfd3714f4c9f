"""Layouts of volumes over several disks: kinds, members used, redundancy (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from iostudy import units
from iostudy.settings.definitions import volume as definitions
from iostudy.settings.values import AS_FOUND
from iostudy.units import KIB

DEFAULT_STRIPE_BYTES = 64 * KIB
_MIRROR_MEMBERS, _RAID5_MEMBERS, _RAID6_MEMBERS = 2, 3, 4


class Manager(StrEnum):
    """The software that makes a volume."""

    LVM = "lvm"
    MD = "md"


@dataclass(frozen=True)
class VolumeKind:
    """A kind of volume.

    ``level`` is the ``--type`` of lvcreate or the ``--level`` of mdadm. ``copies`` is the number of
    copies of every byte, 0 for one on each member. ``parity`` counts the members' worth of parity.
    ``striped``: data alternate among members in stripes of a fixed size. A volume uses
    ``max_members`` at most, None for all. ``reads_one_copy``: all reads go to the first copy, as
    measured (docs/volumes.md).
    """

    manager: Manager
    level: str
    modules: tuple[str, ...]
    min_members: int
    copies: int = 1
    parity: int = 0
    striped: bool = True
    max_members: int | None = None
    reads_one_copy: bool = False


_DM_RAID = ("dm_mod", "dm_raid")
KINDS: Mapping[str, VolumeKind] = {
    "lvm-one-disk": VolumeKind(Manager.LVM, "linear", ("dm_mod",), 1, striped=False, max_members=1),
    "lvm-linear": VolumeKind(Manager.LVM, "linear", ("dm_mod",), 1, striped=False),
    "lvm-striped": VolumeKind(Manager.LVM, "striped", ("dm_mod",), 2),
    "lvm-raid1": VolumeKind(
        Manager.LVM, "raid1", (*_DM_RAID, "raid1"), _MIRROR_MEMBERS, copies=0, striped=False
    ),
    "lvm-raid1-linear": VolumeKind(
        Manager.LVM, "raid1", (*_DM_RAID, "raid1"), 4, copies=2, striped=False
    ),
    "lvm-raid10": VolumeKind(Manager.LVM, "raid10", (*_DM_RAID, "raid10"), 4, copies=2),
    "lvm-raid5": VolumeKind(Manager.LVM, "raid5", (*_DM_RAID, "raid456"), _RAID5_MEMBERS, parity=1),
    "lvm-mirror": VolumeKind(
        Manager.LVM, "mirror", ("dm_mod", "dm_mirror"), 4, copies=2, reads_one_copy=True
    ),
    "md-raid0": VolumeKind(Manager.MD, "0", ("raid0",), 2),
    "md-raid1": VolumeKind(Manager.MD, "1", ("raid1",), _MIRROR_MEMBERS, copies=0, striped=False),
    "md-raid10": VolumeKind(Manager.MD, "10", ("raid10",), _MIRROR_MEMBERS, copies=2),
    "md-raid5": VolumeKind(Manager.MD, "5", ("raid456",), _RAID5_MEMBERS, parity=1),
    "md-raid6": VolumeKind(Manager.MD, "6", ("raid456",), _RAID6_MEMBERS, parity=2),
}
"""Kinds of volumes by name. Source: lvmraid(7), md(4), mdadm(8)."""

assert tuple(KINDS) == definitions.KIND.choices, "the setting has the same kinds"


@dataclass(frozen=True)
class VolumeLayout:
    """How a volume lies on its members.

    ``stripes`` is the number of data stripes, 0 for as many as the members allow. ``placement`` is
    that of the copies in md's RAID 10. Without ``initial_sync`` the copies of a new volume are
    declared equal.
    """

    kind: str
    stripes: int = 0
    stripe_size_bytes: int = DEFAULT_STRIPE_BYTES
    placement: str = definitions.PLACEMENTS[0]
    initial_sync: bool = True

    def with_settings(self, settings: Mapping[str, str]) -> VolumeLayout:
        """Return this layout with the volume settings among these; what is as found stays."""
        settings = {name: value for name, value in settings.items() if value != AS_FOUND}
        kind = settings.get(definitions.KIND.name, self.kind)
        stripes = settings.get(definitions.STRIPES.name)
        size = settings.get(definitions.STRIPE_SIZE.name)
        return replace(
            self,
            kind=kind,
            stripes=self.stripes if stripes is None else int(stripes),
            stripe_size_bytes=self.stripe_size_bytes if size is None else int(size),
            placement=settings.get(definitions.LAYOUT.name, self.placement),
        )

    def find_conflict(
        self, settings: Mapping[str, str], count: int
    ) -> tuple[tuple[str, ...], str, str] | None:
        """Return why so many disks make no volume with these settings; None if they do.

        The key of a target, the reason, and what the target has.
        """
        try:
            self.with_settings(settings).members_used(count)
        except ValueError as error:
            return ("volume",), str(error), f"{count} disks"
        return None

    def wanted(self) -> dict[str, str]:
        """Return the properties as settings, by name: those that the kind has."""
        values = {definitions.KIND.name: self.kind}
        if self.properties.striped:
            values[definitions.STRIPE_SIZE.name] = str(self.stripe_size_bytes)
        if definitions.LAYOUT.condition is not None and definitions.LAYOUT.condition.holds(
            self.kind
        ):
            values[definitions.LAYOUT.name] = self.placement
        return values

    @property
    def properties(self) -> VolumeKind:
        """The properties of its kind."""
        return KINDS[self.kind]

    def members_used(self, available: int) -> int:
        """Return the number of members; ValueError if fewer are available, or they do not fit."""
        kind = self.properties
        if available < kind.min_members:
            raise ValueError(f"{self.kind} needs at least {kind.min_members} disks")
        if not kind.striped:
            if self.stripes:
                raise ValueError(f"{self.kind} has no stripes; leave stripes out")
            usable = min(available, kind.max_members or available)
            return usable - usable % (kind.copies or 1)
        group = kind.copies or 1
        stripes = self.stripes or (available - kind.parity) // group
        used = stripes * group + kind.parity
        if used > available or used < kind.min_members:
            raise ValueError(
                f"{self.kind} with {stripes} stripes needs "
                f"{max(used, kind.min_members)} disks, and there are {available}"
            )
        return used

    def stripes_on(self, available: int) -> int:
        """Return the number of data stripes over that many disks; 1 for a kind without."""
        kind = self.properties
        if not kind.striped:
            return 1
        return (self.members_used(available) - kind.parity) // (kind.copies or 1)

    def capacity_bytes(self, available: int, member_bytes: int) -> int:
        """Return an upper bound of the size: metadata of the volume take a little more."""
        kind, used = self.properties, self.members_used(available)
        if kind.copies == 0:
            return member_bytes
        return (used - kind.parity) // kind.copies * member_bytes

    def parallel_disks(self, used: int, *, writes: bool) -> int:
        """Return how many of the disks can work on different data at a time.

        Reads use every copy, or the first one only (``reads_one_copy``). A linear volume uses one
        disk after the other.
        """
        kind = self.properties
        copies = kind.copies or used
        different = (used - kind.parity) // copies if kind.striped else 1
        return different if writes or kind.reads_one_copy else different * copies

    def describe(self) -> str:
        """Describe kind and stripes: ``lvm-raid10 with 6 stripes of 64KiB``."""
        if not self.properties.striped:
            return self.kind
        count = f"{self.stripes} stripes" if self.stripes else "stripes"
        placement = f", {self.placement} copies" if definitions.LAYOUT.name in self.wanted() else ""
        return f"{self.kind} with {count} of {units.format_size(self.stripe_size_bytes)}{placement}"
