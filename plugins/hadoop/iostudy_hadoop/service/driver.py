"""Driver of a folder in HDFS, whose disks are those of other machines."""

from __future__ import annotations

from pathlib import Path

from iostudy.node.free_space import FreeSpace
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.model import Study
from iostudy_hadoop.existing.mountable import find_directory
from iostudy_hadoop.mount.mounted import HdfsMount, find_program, require_fuse
from iostudy_hadoop.mount.options import parse_writable
from iostudy_hadoop.study.target import HdfsTarget


class HdfsDriver(TargetDriver[HdfsTarget]):
    """Works in the output folder on this host; the cluster has the files of the trials."""

    def probe_paths(self) -> tuple[Path, ...]:
        return (Path(),)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        WorkFolder.prepare(folder)
        return FreeSpace(study.describe_target(), None)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        return (folder,)


def prepare_mount(point: Path, source: str, options: str) -> HdfsMount:
    """Prepare a mount of HDFS; ClusterError for a NameNode that does not answer."""
    require_fuse()
    find_program()
    return HdfsMount.prepare(point, find_directory(source), parse_writable(options))
