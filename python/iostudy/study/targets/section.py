"""Targets as study files have them: a path, a URI, or a section with a key for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from iostudy.study.fields import StudySection
from iostudy.study.targets.directories import MAX_DIRECTORIES, ComparedPlace, DirectoriesTarget
from iostudy.study.targets.directory import DirectoryTarget
from iostudy.study.targets.drive import DriveTarget, SimulatedTarget
from iostudy.study.targets.fields import Name, short_path
from iostudy.study.targets.hdfs import HdfsTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.scratch import ScratchTarget
from iostudy.study.targets.target import Target
from iostudy.study.targets.volume import VolumeTarget


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
            case [VolumeTarget(simulated=True) as volume]:
                return volume.simulate()
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
        return HdfsTarget.parse(value)
    if "://" in value:
        raise ValueError("targets are directories, disks, and folders in HDFS (hdfs://...)")
    return DirectoryTarget(short_path(Path(value)))


TargetValue = Annotated[
    Target, PlainValidator(parse_target, json_schema_input_type=str | TargetSection)
]
"""A target in a study file: a text, or a section."""
