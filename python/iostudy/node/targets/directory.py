"""Driver of a directory that exists."""

from __future__ import annotations

from pathlib import Path

from iostudy.node.free_space import FreeSpace, measure_free_space
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.model import Study
from iostudy.study.targets.directory import DirectoryTarget


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
