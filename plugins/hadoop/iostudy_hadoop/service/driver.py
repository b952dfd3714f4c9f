"""Driver of a folder in HDFS, whose disks are those of other machines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from iostudy.line_handler import LineHandler
from iostudy.node.free_space import FreeSpace
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings.change import Change
from iostudy.settings.mounting.calls import require_empty
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.model import Study
from iostudy.study.targets.target import MountRequest
from iostudy_hadoop.existing.mountable import find_directory
from iostudy_hadoop.mount.mounted import HdfsMount, find_program, require_fuse
from iostudy_hadoop.mount.options import parse_writable
from iostudy_hadoop.service.request import CLUSTER_FOLDER, find_software
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.started_cluster import StartedCluster
from iostudy_hadoop.study.target import HdfsTarget

_DIGEST_DIGITS = 8


class HdfsDriver(TargetDriver[HdfsTarget]):
    """Works in the output folder on this host; the cluster has the files of the trials."""

    def probe_paths(self) -> tuple[Path, ...]:
        return (Path(),)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        WorkFolder.prepare(folder)
        return FreeSpace(study.describe_target(), None)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        return (folder,)


def find_mount(request: MountRequest) -> HdfsMount:
    """Return a mount of HDFS to apply; ClusterError for a NameNode that does not answer."""
    require_fuse()
    find_program()
    options = parse_writable(request.options or "")
    return HdfsMount.prepare(request.point, find_directory(request.source), options)


def prepare_mount(
    request: MountRequest, folder: Path, on_progress: LineHandler
) -> Iterator[Change]:
    """Yield the mount; see `find_mount`."""
    del folder, on_progress
    yield find_mount(request)


def require_local_mount(request: MountRequest) -> None:
    """TargetError without FUSE, the program of the mount or an empty mount point."""
    require_fuse()
    find_program()
    require_empty(request.point)


def prepare_local_mount(
    request: MountRequest, folder: Path, on_progress: LineHandler
) -> Iterator[Change]:
    """Yield a cluster with its data in the output folder, and a mount of its HDFS.

    It has a DataNode for each replica. UsageError if Java or Hadoop is missing.
    """
    require_local_mount(request)
    options = parse_writable(request.options or "")
    prepare = find_software(ClusterSpec(datanodes=options.replication or 1), on_progress)
    # Several mount points may have the same name, in different folders.
    digest = hashlib.sha256(bytes(request.point)).hexdigest()[:_DIGEST_DIGITS]
    home = folder / CLUSTER_FOLDER / f"{request.point.name}-{digest}"
    cluster = prepare(home=home, storage=folder)
    yield StartedCluster(cluster, on_progress)
    yield HdfsMount.prepare(request.point, cluster.root, options)
