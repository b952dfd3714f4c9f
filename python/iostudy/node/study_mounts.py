"""File systems that a study mounts: prepared as changes."""

from __future__ import annotations

from iostudy.hadoop.existing.mountable import find_directory
from iostudy.settings.clusters.hdfs_mount import HdfsMount, find_program, require_fuse
from iostudy.settings.clusters.hdfs_mount_options import parse_writable
from iostudy.settings.temporary_mount import TemporaryMount
from iostudy.study.mount_request import MountRequest
from iostudy.study.targets import DirectoriesTarget, Target


def prepare_mounts(target: Target) -> tuple[HdfsMount | TemporaryMount, ...]:
    """Prepare the mounts of a target in the order of the study file.

    TargetError for a directory that is not empty or a missing program; ClusterError for a NameNode
    that does not answer.
    """
    return tuple(map(_prepare, requested_mounts(target)))


def requested_mounts(target: Target) -> tuple[MountRequest, ...]:
    """Return what the study mounts itself."""
    return tuple(target.mounts.values()) if isinstance(target, DirectoriesTarget) else ()


def _prepare(request: MountRequest) -> HdfsMount | TemporaryMount:
    if not request.is_hdfs:
        return TemporaryMount.prepare(
            request.point, request.source, request.type or "", request.options or ""
        )
    require_fuse()
    find_program()
    directory = find_directory(request.source)
    return HdfsMount.prepare(request.point, directory, parse_writable(request.options or ""))
