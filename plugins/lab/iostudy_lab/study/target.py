"""Modelled drives: disks in memory that take the time of a drive, or drives of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from iostudy import units
from iostudy.plugins import Ref
from iostudy.settings.definitions.volume import KIND
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.fields import STRICT_KEYS
from iostudy.study.problems import KeyPath
from iostudy.study.targets.disk import DiskRequest, MadeDisksTarget, MemberDisks
from iostudy.study.targets.target import (
    MAX_DISKS,
    DiskSize,
    FilesystemType,
    MemberCount,
    Name,
    Target,
    TargetKey,
)
from iostudy_lab.drives import presets

DRIVE = "drive"
MAX_HOSTS = 10_000
"""Simulated hosts of a study."""
_PARTS = "a process, a FUSE mount, a loop device and a mount"


def _drive_model(name: str) -> str:
    if name not in presets.names() and not name.endswith(".yaml"):
        names = ", ".join(presets.names())
        raise ValueError(f"{name!r} is no modelled drive; write a drive file (.yaml) or {names}")
    return name


DriveModel = Annotated[str, AfterValidator(_drive_model)]


@dataclass(frozen=True)
class DriveTarget(MadeDisksTarget):
    """Modelled drives in memory, attached as disks; each is formatted and mounted."""

    __pydantic_config__ = STRICT_KEYS

    model: DriveModel
    """drive to model, such as ultrastar-7k8, or a drive file (.yaml)"""
    size_bytes: Annotated[DiskSize, Field(validation_alias="size")]
    """size of the drive, such as 8GiB: fewer cylinders, with data in memory"""
    filesystem: FilesystemType = "ext4"
    """file system that is made on it"""
    count: Annotated[int, Field(ge=1, le=MAX_DISKS + 1)] = 1
    """number of equal drives; the others are further disks drive2, drive3 and so on"""
    other_models: Annotated[
        Mapping[Name, DriveModel],
        Field(max_length=MAX_DISKS, validation_alias="beside"),
    ] = field(default_factory=dict)
    """models of further drives of that size and file system, by names of your own"""
    simulated: bool = False
    """simulate the drive below a simulated host, for `iostudy simulate`"""
    hosts: Annotated[int, Field(ge=1, le=MAX_HOSTS)] = 1
    """number of simulated hosts, each with such a drive"""

    def __post_init__(self) -> None:
        if self.hosts > 1 and not self.simulated:
            raise ValueError("hosts counts simulated hosts; add simulated: true, or use count")
        if self.simulated and (self.count > 1 or self.other_models):
            raise ValueError("a simulated target is one drive; leave out count and other drives")
        for name in self._equal_drives:
            if name in self.other_models:
                raise ValueError(f"{name} is the name of one of the {self.count} equal drives")

    @property
    def models(self) -> tuple[str, ...]:
        """The model of each drive: the first, those equal to it, and the others."""
        return (self.model,) * self.count + tuple(self.other_models.values())

    @property
    def extra_filesystems(self) -> Mapping[str, str]:
        return dict.fromkeys((*self._equal_drives, *self.other_models), self.filesystem)

    @property
    def _equal_drives(self) -> tuple[str, ...]:
        return tuple(f"drive{number}" for number in range(2, self.count + 1))

    def describe_with(self, filesystem: str) -> str:
        size = units.format_size(self.size_bytes)
        equal = "a modelled drive" if self.count == 1 else f"{self.count} modelled drives"
        others = ", ".join(f"{name} ({model})" for name, model in self.other_models.items())
        text = f"{equal} {self.model} of {size} with {filesystem}"
        return f"{text}, with further drives {others}" if others else text

    def chosen(self) -> Target:
        """Return the drives, or one on a virtual clock."""
        if not self.simulated:
            return self
        return SimulatedTarget(self.model, self.size_bytes, self.hosts)

    def describe_changes(self) -> tuple[str, ...]:
        count = len(self.models)
        drives = f" for each of {count} modelled drives" if count > 1 else ""
        return (f"{_PARTS}{drives}, removed at the end",)

    @property
    def made(self) -> DiskRequest:
        return DiskRequest(DRIVE, self.size_bytes, self.models)


class DriveMembers(MemberDisks):
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
    def request(self) -> DiskRequest:
        """The drives to make."""
        last = self.last or self.model
        return DiskRequest(DRIVE, self.size, (self.model,) * (self.count - 1) + (last,))

    def describe(self) -> str:
        """Describe the drives."""
        last = f", the last a {self.last}" if self.last else ""
        size = units.format_size(self.size)
        return f"{self.count} modelled drives {self.model} of {size}{last}"

    def simulate(self, layout: VolumeLayout) -> Target:
        return SimulatedTarget(
            self.model, self.size, volume=layout, count=self.count, last=self.last or ""
        )


@dataclass(frozen=True)
class SimulatedTarget(Target):
    """A drive on a virtual clock, below a simulated host: every figure is a prediction.

    With a layout it is a volume over ``count`` such drives. ``last`` is the model of the last one,
    if it differs from the others.
    """

    driver: ClassVar[Ref] = "iostudy_lab.simulation.driver:SimulatedDriver"
    predicts: ClassVar[bool] = True
    command: ClassVar[str] = "simulate"

    model: str
    size_bytes: int
    hosts: int = 1
    volume: VolumeLayout | None = None
    count: int = 1
    last: str = ""

    @property
    def layout(self) -> VolumeLayout | None:
        return self.volume

    @property
    def models(self) -> tuple[str, ...]:
        return (self.model,) * (self.count - 1) + (self.last or self.model,)

    @property
    def made_levels(self) -> Mapping[str, str]:
        return {KIND.name: self.layout.kind} if self.layout else {}

    def capacity_bytes(self, settings: Mapping[str, str]) -> int:
        """Return the room for files on the drive, or on its volume under these settings."""
        if self.volume is None:
            return self.size_bytes
        layout = self.volume.with_settings(settings)
        # Chunks that the end of a drive cuts off are not used.
        unused = layout.stripes_on(self.count) * layout.stripe_size_bytes
        return layout.capacity_bytes(self.count, self.size_bytes) - unused

    def find_conflict(self, settings: Mapping[str, str]) -> tuple[KeyPath, str, str] | None:
        return self.layout.find_conflict(settings, self.count) if self.layout else None

    def describe(self) -> str:
        drive = f"a simulated drive {self.model} of {units.format_size(self.size_bytes)}"
        if self.layout is not None:
            drives = drive.replace("a simulated drive", f"{self.count} simulated drives")
            last = f", the last a {self.last}" if self.last else ""
            return f"a volume {self.layout.describe()} on {drives}{last}"
        return drive if self.hosts == 1 else f"{self.hosts} hosts, each with {drive}"

    @property
    def is_made(self) -> bool:
        return True


KEY = TargetKey("a modelled drive, made for the study", DriveTarget, DriveMembers)
