"""Targets of a study: a directory, a loopback or scratch disk, or a folder in HDFS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from iostudy.units import format_size


@dataclass(frozen=True)
class DirectoryTarget:
    """An existing directory; the study works in a folder of its own below it.

    Without a path it is the output folder.
    """

    path: Path | None

    def describe(self) -> str:
        """What it is, for a person."""
        return "a folder in the output folder" if self.path is None else str(self.path)


@dataclass(frozen=True)
class LoopbackTarget:
    """A file in the output folder, attached as a disk with direct I/O, formatted and mounted.

    ``further_disks`` has the file systems of further such disks of the same size, by name, for
    workloads that use them.
    """

    size_bytes: int
    filesystem: str
    further_disks: Mapping[str, str] = field(default_factory=dict)

    def describe(self, filesystem: str = "") -> str:
        """What it is, for a person, with its file system or what takes the place of that."""
        made = filesystem or self.filesystem
        further_disks = ", ".join(f"{name} ({kind})" for name, kind in self.further_disks.items())
        own = f"a loop-back disk of {format_size(self.size_bytes)} with {made}"
        return f"{own}, with further disks {further_disks}" if further_disks else own


@dataclass(frozen=True)
class ScratchTarget:
    """A whole device whose content the study may destroy; formatted and mounted."""

    device: Path
    filesystem: str

    def describe(self, filesystem: str = "") -> str:
        """What it is, for a person, with its file system or what takes the place of that."""
        return f"{self.device} formatted with {filesystem or self.filesystem}"


@dataclass(frozen=True)
class HdfsTarget:
    """A folder in the HDFS of a cluster that is there; the study works in one of its own below it.

    ``uri`` is such as ``hdfs://namenode:8020/bench``, or ``hdfs:///bench`` for the cluster that the
    site files in ``HADOOP_CONF_DIR`` call the default.
    """

    uri: str

    def describe(self) -> str:
        """What it is, for a person."""
        return f"a folder in {self.uri}"


DiskTarget = LoopbackTarget | ScratchTarget
"""A target that iostudy makes file systems on."""

Target = DirectoryTarget | DiskTarget | HdfsTarget


def extra_filesystems(target: Target) -> Mapping[str, str]:
    """The file systems of the further disks that the study makes, by their names."""
    return target.further_disks if isinstance(target, LoopbackTarget) else {}


def format_target(target: Target, original: Any, folder: str) -> Any:
    """What another study file says to work where a study does, though that may not be root's.

    ``original`` is what the study's own file says, ``folder`` the output folder of the other one.
    """
    match target:
        case DirectoryTarget(path):
            return str(path or folder)
        case HdfsTarget(uri):
            return uri
        case LoopbackTarget() | ScratchTarget():
            return original
        case unreachable:
            assert_never(unreachable)
