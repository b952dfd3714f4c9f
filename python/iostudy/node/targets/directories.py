"""Drivers of directories: one that exists, or several that the study compares."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from iostudy import plugins
from iostudy.line_handler import LineHandler
from iostudy.node.free_space import FreeSpace, measure_free_space, smallest_free_space
from iostudy.node.targets.driver import OfferedLevels, TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.safe_path import ROOT_UID
from iostudy.settings.change import Change
from iostudy.settings.definition import Reach
from iostudy.settings.mount_options import is_made
from iostudy.settings.temporary_mount import TemporaryMount
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.study.targets.directories import DirectoriesTarget, DirectoryTarget
from iostudy.study.targets.target import MountRequest


class DirectoriesDriver(TargetDriver[DirectoriesTarget]):
    """Works in each of the directories; what the study mounts is not there before the run."""

    def probe_paths(self) -> tuple[Path, ...]:
        named = self.target.directories.items()
        return tuple(path for name, path in named if name not in self.target.mounts)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        """Return that of the directory with the least of those that are mounted already."""
        if os.geteuid() == ROOT_UID:
            for request in self.target.mounts.values():
                if request.kind is None:
                    _prepare_mount(request)
                else:
                    plugins.load(request.kind.require)(request)
        directories = self.probe_paths() or (folder,)
        for directory in directories:
            WorkFolder.prepare(directory)
        return smallest_free_space(study.describe_target(), directories)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        places = self.target.directories.values()
        return tuple(path for path in places if not is_made(path) or path.exists())

    def prepare_mounts(self, folder: Path, on_progress: LineHandler) -> Iterator[Change]:
        """Yield what mounts, in the order of the study file.

        TargetError for a directory that is not empty or a missing program; ClusterError for a
        NameNode that does not answer.
        """
        for request in self.target.mounts.values():
            if request.kind is None:
                yield _prepare_mount(request)
            else:
                yield from plugins.load(request.kind.prepare)(request, folder, on_progress)

    def creates(self, factor: Factor, reach: Reach) -> bool:
        points = [mount.point for mount in self.target.mounts.values()]
        return bool(points) and all(
            any(Path(place).is_relative_to(point) for point in points) for place in factor.on
        )

    def offered_levels(self, factors: Sequence[Factor]) -> OfferedLevels | None:
        return None if self.target.mounts else super().offered_levels(factors)


def _prepare_mount(request: MountRequest) -> TemporaryMount:
    point, type_, options = request.point, request.type or "", request.options or ""
    return TemporaryMount.prepare(point, request.source, type_, options)


class DirectoryDriver(TargetDriver[DirectoryTarget]):
    """Works in a directory of the user, or in the output folder."""

    def probe_paths(self) -> tuple[Path, ...]:
        return (self.target.path or Path(),)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        path = self.target.path or folder
        WorkFolder.prepare(path)
        return measure_free_space(study.describe_target(), path)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        return (self.target.path or folder,)
