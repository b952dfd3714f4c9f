"""Targets of a study: directories, disks, modelled drives, volumes and HDFS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self, assert_never

from pydantic import AfterValidator, Field, PlainValidator, TypeAdapter

from iostudy import units
from iostudy.settings.definitions import volume as volume_settings
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.study.fields import STRICT_KEYS, StudySection
from iostudy.study.hdfs_uri import parse_hdfs_uri
from iostudy.study.labels import find_duplicates
from iostudy.study.mount_request import MountRequest
from iostudy.study.target_fields import (
    DevicePath,
    DiskSize,
    DriveModel,
    FilesystemType,
    short_path,
)
from iostudy.study.volume_target import VolumeTarget

MAX_DISKS = 32
"""Disks in addition to the target; each is made and mounted before the first trial."""
MAX_HOSTS = 10_000
"""Simulated hosts of a study."""
MAX_DIRECTORIES = 32
"""Directories that a study compares; each is checked before the first trial."""
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of a disk or directory: letters, digits, - and _, as in disk2"
        )
    return name


Name = Annotated[str, AfterValidator(_name)]
"""Name of a disk or directory."""


@dataclass(frozen=True)
class DirectoryTarget:
    """An existing directory; the study works in a folder of its own below it.

    Without a path it is the output folder.
    """

    path: Path | None

    def describe(self) -> str:
        """Describe the target for a person."""
        return "a folder in the output folder" if self.path is None else str(self.path)


@dataclass(frozen=True)
class DirectoriesTarget:
    """Directories on mounts that the study compares, by names.

    Each configuration works in a folder of its own below one of them. The study mounts those of
    ``mounts``, by the same names, at its begin; the others are mounted already.
    """

    directories: Mapping[str, Path]
    mounts: Mapping[str, MountRequest] = field(default_factory=dict)

    @classmethod
    def from_places(cls, places: Mapping[str, Path | MountRequest]) -> Self:
        """Build it from directories and file systems to mount, by names."""
        mounts = {name: own for name, own in places.items() if isinstance(own, MountRequest)}
        paths = {name: own for name, own in places.items() if isinstance(own, Path)}
        points = {name: own.point for name, own in mounts.items()}
        return cls({name: (paths | points)[name] for name in places}, mounts)

    def __post_init__(self) -> None:
        if twice := find_duplicates(str(path) for path in self.directories.values()):
            raise ValueError(f"directory {', '.join(twice)} has two names")

    def describe(self) -> str:
        """Describe the target for a person."""
        return ", ".join(f"{name} ({self._describe(name)})" for name in self.directories)

    def _describe(self, name: str) -> str:
        return self.mounts[name].describe() if name in self.mounts else str(self.directories[name])


@dataclass(frozen=True)
class LoopbackTarget:
    """A file in the output folder, attached as a disk with direct I/O, formatted and mounted."""

    __pydantic_config__ = STRICT_KEYS

    size_bytes: Annotated[DiskSize, Field(validation_alias="size")]
    """size of the disk, such as 2GiB"""
    filesystem: FilesystemType = "ext4"
    """file system that is made on it"""
    further_disks: Annotated[
        Mapping[Name, FilesystemType],
        Field(max_length=MAX_DISKS, validation_alias="beside"),
    ] = field(default_factory=dict)
    """file systems of further disks of that size, by names of your own"""

    def describe(self, filesystem: str = "") -> str:
        """Describe the target for a person, with its file system or the replacement of it."""
        made = filesystem or self.filesystem
        further_disks = ", ".join(f"{name} ({kind})" for name, kind in self.further_disks.items())
        own = f"a loop-back disk of {units.format_size(self.size_bytes)} with {made}"
        return f"{own}, with further disks {further_disks}" if further_disks else own


@dataclass(frozen=True)
class DriveTarget:
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
    def further_disks(self) -> Mapping[str, str]:
        """File systems of the further drives, by their names."""
        return dict.fromkeys((*self._equal_drives, *self.other_models), self.filesystem)

    @property
    def _equal_drives(self) -> tuple[str, ...]:
        return tuple(f"drive{number}" for number in range(2, self.count + 1))

    def describe(self, filesystem: str = "") -> str:
        """Describe the target for a person, with its file system or the replacement of it."""
        made, size = filesystem or self.filesystem, units.format_size(self.size_bytes)
        equal = "a modelled drive" if self.count == 1 else f"{self.count} modelled drives"
        others = ", ".join(f"{name} ({model})" for name, model in self.other_models.items())
        own = f"{equal} {self.model} of {size} with {made}"
        return f"{own}, with further drives {others}" if others else own


@dataclass(frozen=True)
class ScratchTarget:
    """A whole device whose content the study may destroy; formatted and mounted."""

    __pydantic_config__ = STRICT_KEYS

    device: DevicePath
    """device whose data are destroyed, such as /dev/nvme1n1"""
    filesystem: FilesystemType = "ext4"
    """file system that is made on it"""

    def describe(self, filesystem: str = "") -> str:
        """Describe the target for a person, with its file system or the replacement of it."""
        return f"{self.device} formatted with {filesystem or self.filesystem}"


@dataclass(frozen=True)
class HdfsTarget:
    """A folder in the HDFS of a cluster that is there; the study works in one of its own below it.

    ``uri`` is such as ``hdfs://namenode:8020/bench``, or ``hdfs:///bench`` for the cluster that the
    site files in ``HADOOP_CONF_DIR`` call the default.
    """

    uri: str

    def describe(self) -> str:
        """Describe the target for a person."""
        return f"a folder in {self.uri}"


@dataclass(frozen=True)
class SimulatedTarget:
    """A drive on a virtual clock, below a simulated host: every figure is a prediction."""

    model: str
    size_bytes: int
    hosts: int = 1

    def describe(self) -> str:
        """What it is, for a person."""
        drive = f"a simulated drive {self.model} of {units.format_size(self.size_bytes)}"
        return drive if self.hosts == 1 else f"{self.hosts} hosts, each with {drive}"


DiskTarget = LoopbackTarget | DriveTarget | ScratchTarget | VolumeTarget
"""A target that iostudy makes file systems on."""

Target = DirectoryTarget | DirectoriesTarget | DiskTarget | HdfsTarget | SimulatedTarget


def _parse_place(value: Any) -> Path | MountRequest:
    """Parse a directory, or a file system to mount."""
    if isinstance(value, Mapping):
        return _MOUNT_REQUEST.validate_python(value)
    if not isinstance(value, str):
        raise ValueError("write a directory, or {mount: filer:/export, at: /mnt/nfs}")
    return short_path(Path(value))


_MOUNT_REQUEST = TypeAdapter(MountRequest)
ComparedPlace = Annotated[
    Path | MountRequest, PlainValidator(_parse_place, json_schema_input_type=str | MountRequest)
]
"""A directory, or a file system to mount."""


class TargetSection(StudySection):
    """A target that is more than a directory."""

    loopback: LoopbackTarget | None = None
    """a disk made for the study from a file in the output folder"""
    scratch: ScratchTarget | None = None
    """a device of which the study destroys all data"""
    drive: DriveTarget | None = None
    """a modelled drive, made for the study"""
    volume: VolumeTarget | None = None
    """a volume of LVM or md over several disks, made for the study"""
    directories: (
        Annotated[
            Mapping[Name, ComparedPlace],
            Field(min_length=2, max_length=MAX_DIRECTORIES),
        ]
        | None
    ) = None
    """directories on mounts to compare, by names of your own, which target.directory varies;
    {mount: filer:/export, at: /mnt/nfs} is mounted for the study"""

    def target(self) -> Target:
        """The target; ValueError unless exactly one is given."""
        places = self.directories
        directories = DirectoriesTarget.from_places(places) if places else None
        given = (self.loopback, self.scratch, self.drive, self.volume, directories)
        match [each for each in given if each is not None]:
            case [DriveTarget(simulated=True) as drive]:
                return SimulatedTarget(drive.model, drive.size_bytes, drive.hosts)
            case [target]:
                return target
            case _:
                raise ValueError(
                    "give one of loopback: {size: 2GiB}, scratch: {device: /dev/...}, "
                    "drive: {model: ultrastar-7k8, size: 8GiB}, "
                    "volume: {kind: lvm-raid10, devices: ...} and "
                    "directories: {local: /data, nfs: /mnt/nfs}"
                )


def parse_target(value: Any) -> Target:
    """A target as a study file has it; ValueError says what is wrong with it."""
    if isinstance(value, Mapping):
        return TargetSection.model_validate(value).target()
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(
            "a target is wanted: a directory, {loopback: ...}, {scratch: ...}, {drive: ...}, "
            "{volume: ...}, {directories: ...} or hdfs://..."
        )
    if value.strip().startswith("hdfs:"):
        return parse_hdfs_target(value)
    if "://" in value:
        raise ValueError("targets are directories, disks, and folders in HDFS (hdfs://...)")
    return DirectoryTarget(short_path(Path(value)))


def parse_hdfs_target(text: str) -> HdfsTarget:
    """A folder in HDFS; ValueError says what is wrong with its URI."""
    uri = parse_hdfs_uri(text)
    if uri.endswith("/"):
        raise ValueError("name a folder in which the study may work, not all of HDFS")
    return HdfsTarget(uri)


TargetValue = Annotated[
    Target, PlainValidator(parse_target, json_schema_input_type=str | TargetSection)
]
"""A target in a study file: a text, or a section."""


def extra_filesystems(target: Target) -> Mapping[str, str]:
    """The file systems of the further disks that the study makes, by their names."""
    return target.further_disks if isinstance(target, LoopbackTarget | DriveTarget) else {}


def is_made(target: Target) -> bool:
    """Whether the study makes and removes the disks of the target."""
    match target:
        case LoopbackTarget() | DriveTarget():
            return True
        case VolumeTarget():
            return not target.devices
        case _:
            return False


def destroyed_devices(target: Target) -> tuple[Path, ...]:
    """The devices of the user whose data the study destroys."""
    match target:
        case ScratchTarget(device):
            return (device,)
        case VolumeTarget():
            return target.devices
        case _:
            return ()


def hard_to_change_levels(target: Target) -> Mapping[str, str]:
    """What the target says of settings that take a new file system, by their names."""
    if not isinstance(target, DiskTarget):
        return {}
    own = {FILESYSTEM_TYPE.name: target.filesystem}
    return (
        own | {volume_settings.KIND.name: target.kind} if isinstance(target, VolumeTarget) else own
    )


def format_target(target: Target, original: Any, folder: str) -> Any:
    """What another study file says to work where a study does, though that may not be root's.

    ``original`` is what the study's own file says, ``folder`` the output folder of the other one.
    """
    match target:
        case DirectoryTarget(path):
            return str(path or folder)
        case HdfsTarget(uri):
            return uri
        case (
            DirectoriesTarget()
            | LoopbackTarget()
            | ScratchTarget()
            | DriveTarget()
            | VolumeTarget()
            | SimulatedTarget()
        ):
            return original
        case unreachable:
            assert_never(unreachable)
