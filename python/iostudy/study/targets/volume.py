"""Target that is a volume of LVM or md over several disks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PlainValidator, create_model

from iostudy.plugins import Ref
from iostudy.settings.definitions.volume import KIND, PLACEMENTS, STRIPE_SIZE
from iostudy.settings.scratch.volume.layout import DEFAULT_STRIPE_BYTES, KINDS, VolumeLayout
from iostudy.study.fields import STRICT_KEYS, StudySection, one_of
from iostudy.study.names import scalar_text
from iostudy.study.problems import KeyPath
from iostudy.study.targets.disk import ON_DRIVES, DiskRequest, DiskTarget, MemberDisks
from iostudy.study.targets.loopback import LoopbackMembers
from iostudy.study.targets.target import (
    MAX_MEMBERS,
    FilesystemType,
    Target,
    list_plugin_targets,
    require_plugins,
    short_path,
)
from iostudy.workloads.option_types import SIZE_FORM

_MEMBERS_WANTED = (
    "list devices such as [/dev/sdb, /dev/sdc], or write {loopback: {size: 1GiB, count: 4}} or "
    "{drive: {model: ultrastar-7k8, size: 1GiB, count: 4}}"
)


def _stripe_size(value: Any) -> int:
    return int(STRIPE_SIZE.parse(scalar_text(value)))


class MadeMembers(StudySection):
    """Disks that the study makes for a volume."""

    loopback: LoopbackMembers | None = None
    """loop-back disks"""

    def members(self) -> MemberDisks:
        """Return the disks; ValueError unless exactly one kind is given."""
        given = (getattr(self, name) for name in type(self).model_fields)
        match [value for value in given if value is not None]:
            case [MemberDisks() as disks]:
                return disks
            case _:
                raise ValueError(_MEMBERS_WANTED)


def _make_section_type() -> type[MadeMembers]:
    """Return the section with the keys of plugins, too."""
    fields: dict[str, Any] = {
        name: (key.members | None, Field(None, description=key.members.__doc__))
        for name, key in list_plugin_targets().items()
        if key.members is not None
    }
    name, doc = MadeMembers.__name__, MadeMembers.__doc__
    return create_model(name, __base__=MadeMembers, __doc__=doc, **fields)


_SECTION = _make_section_type()
Members = MemberDisks | tuple[Path, ...]
"""The disks of a volume: made for the study, or devices whose data are destroyed."""


def _parse_members(value: Any) -> Members:
    if isinstance(value, Mapping):
        require_plugins(value)
        return _SECTION.model_validate(value).members()
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise ValueError(_MEMBERS_WANTED)
    if len(set(value)) < len(value):
        raise ValueError("a device is named twice")
    return tuple(short_path(Path(device)) for device in value)


@dataclass(frozen=True)
class VolumeTarget(DiskTarget):
    """A volume of LVM or md over several disks, formatted and mounted.

    The study creates volume and file system again for each configuration that varies one of them.
    """

    __pydantic_config__ = STRICT_KEYS
    driver: ClassVar[Ref] = "iostudy.node.targets.volume:VolumeDriver"

    kind: Annotated[str, one_of("kind of volume", KINDS)]
    """kind of volume, such as lvm-raid10 or md-raid5"""
    members: Annotated[
        Members,
        PlainValidator(_parse_members, json_schema_input_type=list[str] | _SECTION),
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
    simulated: bool = False
    """simulate volume and drives below a simulated host, for `iostudy simulate`"""

    def __post_init__(self) -> None:
        self.chosen()

    def chosen(self) -> Target:
        """Return the volume, or the same one on a virtual clock; ValueError if it has none."""
        if not self.simulated:
            return self
        if isinstance(self.members, tuple):
            raise ValueError(ON_DRIVES)
        return self.members.simulate(self.layout)

    @property
    def layout(self) -> VolumeLayout:
        return VolumeLayout(
            self.kind,
            self.stripes or 0,
            self.stripe_size_bytes,
            self.placement,
            initial_sync=self.initial_sync,
        )

    @property
    def made(self) -> DiskRequest | None:
        return None if isinstance(self.members, tuple) else self.members.request

    @property
    def destroyed(self) -> tuple[Path, ...]:
        return self.members if isinstance(self.members, tuple) else ()

    @property
    def models(self) -> tuple[str, ...]:
        return self.made.models if self.made else tuple(map(str, self.destroyed))

    @property
    def made_levels(self) -> Mapping[str, str]:
        return {**super().made_levels, KIND.name: self.kind}

    def find_conflict(self, settings: Mapping[str, str]) -> tuple[KeyPath, str, str] | None:
        return self.layout.find_conflict(settings, len(self.models))

    def describe_with(self, filesystem: str) -> str:
        if isinstance(self.members, tuple):
            disks = ", ".join(map(str, self.members))
        else:
            disks = self.members.describe()
        synced = "" if self.initial_sync else ", without initial sync"
        return f"a volume {self.layout.describe()} on {disks}{synced}, with {filesystem}"

    def describe_changes(self) -> tuple[str, ...]:
        destroyed = (f"ALL DATA ON {device} ARE DESTROYED" for device in self.destroyed)
        return (*destroyed, f"{self.describe()}, removed at the end")

    def without_place(self) -> Target:
        if isinstance(self.members, tuple):
            return replace(self, members=(Path(),) * len(self.members))
        return self
