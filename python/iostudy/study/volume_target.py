"""Target that is a volume of LVM or md over several disks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator

from iostudy import units
from iostudy.settings.definitions.volume import PLACEMENTS, STRIPE_SIZE
from iostudy.settings.scratch.volume.layout import DEFAULT_STRIPE_BYTES, KINDS, VolumeLayout
from iostudy.study.fields import STRICT_KEYS, StudySection, one_of
from iostudy.study.labels import scalar_text
from iostudy.study.target_fields import DiskSize, DriveModel, FilesystemType, short_path
from iostudy.workloads.option_types import SIZE_FORM

MAX_MEMBERS = 128
"""Disks of a volume."""
_MEMBERS_WANTED = (
    "list devices such as [/dev/sdb, /dev/sdc], or write {loopback: {size: 1GiB, count: 4}} or "
    "{drive: {model: ultrastar-7k8, size: 1GiB, count: 4}}"
)


def _stripe_size(value: Any) -> int:
    return int(STRIPE_SIZE.parse(scalar_text(value)))


MemberCount = Annotated[int, Field(ge=1, le=MAX_MEMBERS)]


class LoopbackMembers(StudySection):
    """Loop-back disks of one size, in the output folder."""

    size: DiskSize
    """size of each disk, such as 2GiB"""
    count: MemberCount
    """number of disks"""

    def describe(self) -> str:
        """Describe the disks."""
        return f"{self.count} loop-back disks of {units.format_size(self.size)}"


class DriveMembers(StudySection):
    """Modelled drives of one kind, in memory."""

    model: DriveModel
    """drive to model, such as ultrastar-7k8, or a drive file (.yaml)"""
    size: DiskSize
    """size of each drive, such as 8GiB: fewer cylinders, with data in memory"""
    count: MemberCount
    """number of drives"""
    last: DriveModel | None = None
    """model of the last of them, such as failing-7k8"""

    @property
    def models(self) -> tuple[str, ...]:
        """The model of each drive."""
        return (self.model,) * (self.count - 1) + (self.last or self.model,)

    def describe(self) -> str:
        """Describe the drives."""
        last = f", the last a {self.last}" if self.last else ""
        size = units.format_size(self.size)
        return f"{self.count} modelled drives {self.model} of {size}{last}"


class MadeMembers(StudySection):
    """Disks that the study makes for a volume."""

    loopback: LoopbackMembers | None = None
    """loop-back disks"""
    drive: DriveMembers | None = None
    """modelled drives"""

    def members(self) -> LoopbackMembers | DriveMembers:
        """Return the disks; ValueError unless exactly one kind is given."""
        match self.loopback, self.drive:
            case (LoopbackMembers() as found, None) | (None, DriveMembers() as found):
                return found
            case _:
                raise ValueError(_MEMBERS_WANTED)


Members = LoopbackMembers | DriveMembers | tuple[Path, ...]
"""The disks of a volume: made for the study, or devices whose data are destroyed."""


def _parse_members(value: Any) -> Members:
    if isinstance(value, Mapping):
        return MadeMembers.model_validate(value).members()
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise ValueError(_MEMBERS_WANTED)
    if len(set(value)) < len(value):
        raise ValueError("a device is named twice")
    return tuple(short_path(Path(each)) for each in value)


@dataclass(frozen=True)
class VolumeTarget:
    """A volume of LVM or md over several disks, formatted and mounted.

    The study creates volume and file system again for each configuration that varies one of them.
    """

    __pydantic_config__ = STRICT_KEYS

    kind: Annotated[str, one_of("kind of volume", KINDS)]
    """kind of volume, such as lvm-raid10 or md-raid5"""
    members: Annotated[
        Members,
        PlainValidator(_parse_members, json_schema_input_type=list[str] | MadeMembers),
        Field(validation_alias="devices"),
    ]
    """devices whose data are destroyed; or {loopback: {size: 1GiB, count: 4}}, or {drive: ...}"""
    stripes: Annotated[int, Field(ge=1, le=MAX_MEMBERS)] | None = None
    """number of disks with different data of a stripe; as many as the disks allow"""
    stripe_size_bytes: Annotated[
        int, BeforeValidator(_stripe_size), SIZE_FORM, Field(validation_alias="stripe_size")
    ] = DEFAULT_STRIPE_BYTES
    """bytes on one disk before the next one follows"""
    placement: Annotated[str, one_of("layout", PLACEMENTS), Field(validation_alias="layout")] = (
        PLACEMENTS[0]
    )
    """where md-raid10 puts the second copy"""
    initial_sync: bool = True
    """whether copies and parity are made equal before the first trial"""
    filesystem: FilesystemType = "ext4"
    """file system that is made on it"""

    @property
    def layout(self) -> VolumeLayout:
        """The layout where the study varies nothing of it."""
        return VolumeLayout(
            self.kind,
            self.stripes or 0,
            self.stripe_size_bytes,
            self.placement,
            initial_sync=self.initial_sync,
        )

    @property
    def devices(self) -> tuple[Path, ...]:
        """The devices whose data are destroyed."""
        return self.members if isinstance(self.members, tuple) else ()

    @property
    def count(self) -> int:
        """The number of disks."""
        return len(self.members) if isinstance(self.members, tuple) else self.members.count

    def describe(self, filesystem: str = "") -> str:
        """Describe the target for a person, with its file system or the replacement of it."""
        if isinstance(self.members, tuple):
            disks = ", ".join(map(str, self.members))
        else:
            disks = self.members.describe()
        synced = "" if self.initial_sync else ", without initial sync"
        made = filesystem or self.filesystem
        return f"a volume {self.layout.describe()} on {disks}{synced}, with {made}"
