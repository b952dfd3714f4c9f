"""Driver of disks that the study makes, and their makers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from iostudy import plugins
from iostudy.core import registered
from iostudy.node.conditions import Permission
from iostudy.node.free_space import FreeSpace
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings.definition import Reach
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import require_tools
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.study.targets.disk import DiskRequest, MadeDisksTarget
from iostudy.study.targets.loopback import LOOPBACK

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
        further = {name: ScratchStorage(other, Filesystem(kind)) for (name, kind), other in made}
        return ScratchStorage(disk, Filesystem(self.target.filesystem), further)

    def creates(self, factor: Factor, reach: Reach) -> bool:
        return not factor.on


def prepare_disks(folder: Path, request: DiskRequest) -> Sequence[ScratchDisk]:
    """Prepare disks in ``folder``; TargetError without space, memory or tools for all of them."""
    return _makers()[request.maker](folder, request.models, request.size_bytes)


@cache
def _makers() -> Mapping[str, Callable[[Path, Sequence[str], int], Sequence[ScratchDisk]]]:
    kinds = (plugin.disks.items() for plugin in registered())
    others = {word: plugins.load(ref) for disks in kinds for word, ref in disks}
    return {
        LOOPBACK: lambda folder, models, size_bytes: LoopbackDisk.prepare(
            folder, size_bytes, len(models)
        ),
        **others,
    }
