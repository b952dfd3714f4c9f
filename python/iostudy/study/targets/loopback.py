"""Loop-back disks: files in the output folder, attached as disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from iostudy import units
from iostudy.study.fields import STRICT_KEYS
from iostudy.study.targets.disk import DiskRequest, MadeDisksTarget, MemberDisks
from iostudy.study.targets.target import MAX_DISKS, DiskSize, FilesystemType, MemberCount, Name
from iostudy.workloads.option_text import format_flow

LOOPBACK = "loopback"
_MODEL = "loop-back disk"


@dataclass(frozen=True)
class LoopbackTarget(MadeDisksTarget):
    """A file in the output folder, attached as a disk with direct I/O, formatted and mounted."""

    __pydantic_config__ = STRICT_KEYS

    size_bytes: Annotated[DiskSize, Field(validation_alias="size")]
    """size of the disk, such as 2GiB"""
    filesystem: FilesystemType = "ext4"
    """file system that is made on it"""
    further_disks: Annotated[
        Mapping[Name, FilesystemType], Field(max_length=MAX_DISKS, validation_alias="beside")
    ] = field(default_factory=dict)
    """file systems of further disks of that size, by names of your own"""

    def describe_with(self, filesystem: str) -> str:
        further_disks = ", ".join(f"{name} ({kind})" for name, kind in self.further_disks.items())
        text = f"a loop-back disk of {units.format_size(self.size_bytes)} with {filesystem}"
        return f"{text}, with further disks {further_disks}" if further_disks else text

    def describe_changes(self) -> tuple[str, ...]:
        many = f"{1 + len(self.further_disks)} loop devices and mounts"
        return (
            f"{many if self.further_disks else 'a loop device and a mount'}, removed at the end",
        )

    @property
    def extra_filesystems(self) -> Mapping[str, str]:
        return self.further_disks

    @property
    def made(self) -> DiskRequest:
        return DiskRequest(LOOPBACK, self.size_bytes, (_MODEL,) * (1 + len(self.further_disks)))

    def starter_lines(self) -> Iterator[str]:
        """Yield the lines of a study file to start from."""
        yield "# A disk made from a file in the output folder, and removed at the end."
        yield "# To test a real disk, name a directory on it: target: /data/scratch"
        disk = {"size": units.format_size(self.size_bytes), "filesystem": self.filesystem}
        yield f"target: {format_flow({LOOPBACK: disk})}"


class LoopbackMembers(MemberDisks):
    """Loop-back disks of one size, in the output folder."""

    size: DiskSize
    """size of each disk, such as 2GiB"""
    count: MemberCount
    """number of disks"""

    @property
    def request(self) -> DiskRequest:
        return DiskRequest(LOOPBACK, self.size, (_MODEL,) * self.count)

    def describe(self) -> str:
        return f"{self.count} loop-back disks of {units.format_size(self.size)}"
