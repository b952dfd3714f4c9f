"""Driver of disks that the study makes, of any maker."""

from __future__ import annotations

from pathlib import Path

from iostudy.node.free_space import FreeSpace
from iostudy.node.permission import Permission
from iostudy.node.targets.disk_makers import prepare_disks
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings.definition import Reach
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import require_tools
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.study.targets.disk import MadeDisksTarget

ANY_LOOP_DEVICE = Path("/dev/loop0")
"""It shows the levels of a disk that is not yet made."""


class MadeDisksDriver(TargetDriver[MadeDisksTarget]):
    """Makes the disks in the output folder, the first one for the trials."""

    def probe_paths(self) -> tuple[Path, ...]:
        return (ANY_LOOP_DEVICE,)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        prepare_disks(folder, self.target.made)
        for filesystem in (self.target.filesystem, *self.target.extra_filesystems.values()):
            require_tools(filesystem)
        return FreeSpace(study.describe_target(), self.target.made.size_bytes)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        return (folder,)

    def prepare(self, folder: Path, permission: Permission) -> ScratchStorage:
        disk, *others = prepare_disks(folder, self.target.made)
        made = zip(self.target.extra_filesystems.items(), others, strict=True)
        further = {name: ScratchStorage(own, Filesystem(kind)) for (name, kind), own in made}
        return ScratchStorage(disk, Filesystem(self.target.filesystem), further)

    def creates(self, factor: Factor, reach: Reach) -> bool:
        return not factor.on
