"""Targets that are directories: one, or several that the study compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import PlainValidator, TypeAdapter

from iostudy.plugins import Ref
from iostudy.settings.mount_options import MOUNT_POINTS
from iostudy.study.names import find_duplicates
from iostudy.study.targets.target import MountRequest, Target, short_path
from iostudy.workloads.option_text import format_flow
from iostudy.workloads.workload import TargetPaths

MAX_DIRECTORIES = 32
"""Directories that a study compares; each is checked before the first trial."""


@dataclass(frozen=True)
class DirectoriesTarget(Target):
    """Directories on mounts that the study compares, by names.

    Each configuration works in a folder of its own below one of them. The study mounts those of
    ``mounts``, by the same names, at its begin; the others are mounted already.
    """

    driver: ClassVar[Ref] = "iostudy.node.targets.directories:DirectoriesDriver"
    may_be_foreign: ClassVar[bool] = True
    why_untraced: ClassVar[str] = (
        "the directories may lack a device with requests to trace; leave it out"
    )

    directories: Mapping[str, Path]
    mounts: Mapping[str, MountRequest] = field(default_factory=dict)

    @classmethod
    def from_places(cls, places: Mapping[str, Path | MountRequest]) -> Self:
        """Build it from directories and file systems to mount, by names."""
        mounts = {
            name: replace(m, point=MOUNT_POINTS / name) if m.point == MOUNT_POINTS else m
            for name, m in places.items()
            if isinstance(m, MountRequest)
        }
        paths = {name: place for name, place in places.items() if isinstance(place, Path)}
        points = {name: mount.point for name, mount in mounts.items()}
        return cls({name: (paths | points)[name] for name in places}, mounts)

    def __post_init__(self) -> None:
        if twice := find_duplicates(str(path) for path in self.directories.values()):
            raise ValueError(f"directory {', '.join(twice)} has two names")

    def describe(self) -> str:
        mounts = {name: mount.describe() for name, mount in self.mounts.items()}
        named = self.directories.items()
        return ", ".join(f"{name} ({mounts.get(name, folder)})" for name, folder in named)

    def describe_changes(self) -> tuple[str, ...]:
        return tuple(
            f"{mount.source} is mounted at {mount.point}, unmounted at the end"
            for mount in self.mounts.values()
        )

    @property
    def compared(self) -> Mapping[str, Path]:
        return self.directories

    @property
    def mount_requests(self) -> Mapping[str, MountRequest]:
        return self.mounts

    def root_needs(self, description: str) -> tuple[str, ...]:
        sources = ", ".join(mount.source for mount in self.mounts.values())
        return (f"mount {sources}",) if sources else ()

    def without_place(self) -> Target:
        return DirectoriesTarget(
            {name: Path(name) for name in self.directories},
            {name: replace(mount, point=Path(name)) for name, mount in self.mounts.items()},
        )


def _parse_place(value: Any) -> Path | MountRequest:
    """Parse a directory, or a file system to mount."""
    if isinstance(value, Mapping):
        return _MOUNT_REQUEST.validate_python(value)
    if not isinstance(value, str):
        raise ValueError("write a directory, or {mount: filer:/export, type: nfs4}")
    return short_path(Path(value))


_MOUNT_REQUEST = TypeAdapter(MountRequest)
ComparedPlace = Annotated[
    Path | MountRequest, PlainValidator(_parse_place, json_schema_input_type=str | MountRequest)
]
"""A directory, or a file system to mount."""


@dataclass(frozen=True)
class DirectoryTarget(Target):
    """An existing directory; the study works in a folder of its own below it.

    Without a path it is the output folder.
    """

    driver: ClassVar[Ref] = "iostudy.node.targets.directories:DirectoryDriver"
    may_be_foreign: ClassVar[bool] = True

    path: Path | None

    def describe(self) -> str:
        return "a folder in the output folder" if self.path is None else str(self.path)

    @property
    def shared_directory(self) -> Path | None:
        return self.path

    def named_paths(self, folder: Path) -> TargetPaths:
        return TargetPaths(directory=self.path or folder)

    def without_place(self) -> Target:
        return DirectoryTarget(None)

    def rewritten(self, original: Any, folder: str) -> Any:
        return str(self.path or folder)

    def starter_lines(self) -> Iterator[str]:
        """Yield the lines of a study file to start from."""
        yield "# The study works in a folder of its own below this directory, and removes it."
        yield f"target: {format_flow(str(self.path))}"
