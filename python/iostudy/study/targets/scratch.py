"""Target that is a device of the user, whose data the study destroys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from iostudy.plugins import Ref
from iostudy.study.fields import STRICT_KEYS
from iostudy.study.targets.disk import DiskTarget
from iostudy.study.targets.target import DevicePath, FilesystemType, Target
from iostudy.visible import visible
from iostudy.workloads.option_text import format_flow
from iostudy.workloads.workload import TargetPaths


@dataclass(frozen=True)
class ScratchTarget(DiskTarget):
    """A whole device whose content the study may destroy; formatted and mounted."""

    __pydantic_config__ = STRICT_KEYS
    driver: ClassVar[Ref] = "iostudy.node.targets.scratch:ScratchDriver"

    device: DevicePath
    """device whose data are destroyed, such as /dev/nvme1n1"""
    filesystem: FilesystemType = "ext4"
    """file system that is made on it"""

    def describe_with(self, filesystem: str) -> str:
        return f"{self.device} formatted with {filesystem}"

    def describe_changes(self) -> tuple[str, ...]:
        return (f"ALL DATA ON {self.device} ARE DESTROYED: it is formatted",)

    @property
    def destroyed(self) -> tuple[Path, ...]:
        return (self.device,)

    def named_paths(self, folder: Path) -> TargetPaths:
        return TargetPaths(device=self.device)

    def without_place(self) -> Target:
        return replace(self, device=Path())

    def starter_lines(self) -> Iterator[str]:
        """Yield the lines of a study file to start from."""
        device = visible(str(self.device))
        yield f"# ALL DATA ON {device} ARE DESTROYED: the study formats it, after"
        yield "# your consent."
        disk = {"device": str(self.device), "filesystem": self.filesystem}
        yield f"target: {format_flow({'scratch': disk})}"
