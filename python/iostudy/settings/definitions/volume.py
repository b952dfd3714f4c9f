"""Definitions of the layout of volumes over several disks.

A study varies these on a volume that it makes; every level takes a new volume and a new file
system. What a study does not vary is as its target says.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Cost, Reach, SettingCondition, SettingDefinition, Switching
from iostudy.settings.values import Choice, Integer, PowerOfTwoSize
from iostudy.units import KIB, MIB

_MAX_STRIPES = 128
_MIN_STRIPE_BYTES, _MAX_STRIPE_BYTES = 4 * KIB, 16 * MIB
PLACEMENTS = ("near", "far", "offset")
_SWITCHING = Switching("a new volume has no data")


@dataclass(frozen=True, kw_only=True)
class VolumeSettingDefinition(SettingDefinition):
    """A property of a volume that is fixed when it is made."""

    reach: Reach = Reach.DISK
    switching: Switching = _SWITCHING
    cost: Cost = Cost.FORMAT


KIND = VolumeSettingDefinition(
    name="volume.kind",
    default="that of the study's target",
    documentation=(
        "How the volume spreads data over its disks, and which software makes it. lvm-one-disk "
        "is the first disk alone, as a control, and leaves the others unused. lvm-mirror is "
        "the dm-mirror target with stripes, as older LVM made RAID 10; lvm-raid10 is today's. "
        "raid1 keeps a copy on every disk; lvm-raid1-linear two, each on half of the disks one "
        "after the other. raid10 keeps two copies, raid5 one disk of parity, raid6 two."
    ),
    source="lvmraid(7), lvcreate(8) --type; mdadm(8) --level, md(4)",
    values=Choice(
        (
            "lvm-one-disk",
            "lvm-linear",
            "lvm-striped",
            "lvm-raid1",
            "lvm-raid1-linear",
            "lvm-raid10",
            "lvm-raid5",
            "lvm-mirror",
            "md-raid0",
            "md-raid1",
            "md-raid10",
            "md-raid5",
            "md-raid6",
        )
    ),
)
_UNSTRIPED = ("-one-disk", "-linear", "-raid1")
_STRIPED = tuple(name for name in KIND.choices if not name.endswith(_UNSTRIPED))
STRIPES = VolumeSettingDefinition(
    name="volume.stripes",
    default="as many as the disks allow",
    documentation=(
        "Number of disks that hold different data of a stripe, without copies and parity. A volume "
        "of fewer stripes leaves the last disks unused."
    ),
    source="lvcreate(8) --stripes; mdadm(8) --raid-devices",
    condition=SettingCondition(KIND.name, _STRIPED),
    values=Integer(1, _MAX_STRIPES),
)
STRIPE_SIZE = VolumeSettingDefinition(
    name="volume.stripe_size",
    unit="B",
    default="65536",
    documentation=(
        "Bytes on one disk before the next disk follows; a power of two. md calls it the chunk."
    ),
    source="lvcreate(8) --stripesize; mdadm(8) --chunk",
    condition=SettingCondition(KIND.name, _STRIPED),
    values=PowerOfTwoSize(_MIN_STRIPE_BYTES, _MAX_STRIPE_BYTES),
)
LAYOUT = VolumeSettingDefinition(
    name="volume.layout",
    default="near",
    documentation=(
        "Where md's RAID 10 puts the second copy: near, at the same place of the next disk; far, "
        "in the second half of the next disk, so that the first halves are read as a RAID 0; "
        "offset, in the next stripe."
    ),
    source="md(4), RAID10; mdadm(8) --layout",
    condition=SettingCondition(KIND.name, ("md-raid10",)),
    values=Choice(PLACEMENTS),
)
DEFINITIONS = (KIND, STRIPES, STRIPE_SIZE, LAYOUT)
NAMES = frozenset(definition.name for definition in DEFINITIONS)
