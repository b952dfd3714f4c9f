"""Check of the free space for the files of a study."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iostudy.errors import TargetError
from iostudy.hadoop.spec import ClusterSpec
from iostudy.settings.definitions.hadoop import PREFIX
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import space_bytes
from iostudy.units import format_rounded_size, parse_size
from iostudy.workloads import catalog

# Overhead of a file system: inodes, extents, its journal.
_FILE_SYSTEM_OVERHEAD = 1.02
_REPLICATION: Final = "dfs.replication"
_BLOCK_SIZE: Final = "dfs.blocksize"
_DEFAULT_BLOCK: Final = "128MiB"
"""The default of dfs.blocksize: hdfs-default.xml (Apache Hadoop 3.4.2)."""


@dataclass(frozen=True)
class FreeSpace:
    """A place and its free bytes for ordinary users; None if unknown."""

    where: str
    free_bytes: int | None


def measure_free_space(where: str, *directories: Path) -> FreeSpace:
    """Return the free space of the directories' file systems, each counted once.

    It is unknown if one of them does not state its size, as some FUSE file systems.
    """
    file_systems = {path.stat().st_dev: os.statvfs(path) for path in directories}.values()
    if not all(own.f_blocks for own in file_systems):
        return FreeSpace(where, None)
    return FreeSpace(where, sum(own.f_bavail * own.f_frsize for own in file_systems))


def smallest_free_space(where: str, directories: Iterable[Path]) -> FreeSpace:
    """Return the free space of the fullest of the directories' file systems that is known."""
    found = (measure_free_space(where, directory).free_bytes for directory in directories)
    return FreeSpace(where, min((each for each in found if each is not None), default=None))


def require_space(
    requests: Sequence[WorkloadRequest],
    configurations: Sequence[Configuration],
    target: FreeSpace,
    spec: ClusterSpec | None,
) -> None:
    """Raise TargetError if the files of a trial do not fit, including file system overhead.

    Files are on the target, except in a cluster ``spec`` with its own data directories. Unknown
    space counts as sufficient.
    """
    in_data_dirs = [own for own in requests if spec and spec.data_dirs and _uses_hdfs(own)]
    on_target = [own for own in requests if own not in in_data_dirs]
    _require(on_target, configurations, target, spec)
    if in_data_dirs and spec is not None:
        where = ", ".join(map(str, spec.data_dirs))
        _require(in_data_dirs, configurations, measure_free_space(where, *spec.data_dirs), spec)


def replication(spec: ClusterSpec, configuration: Configuration) -> int:
    """Return the number of DataNodes with a replica of each block of a trial."""
    replicas = _property(_REPLICATION, spec, configuration)
    return int(replicas or spec.replication)


def required_bytes(
    request: WorkloadRequest, configuration: Configuration, spec: ClusterSpec | None
) -> int:
    """Return the bytes of a trial's files with all replicas; 0 if unknown."""
    (own_bytes,) = space_bytes([request], [configuration])
    return own_bytes * (replication(spec, configuration) if spec and _uses_hdfs(request) else 1)


def _require(
    requests: Sequence[WorkloadRequest],
    configurations: Sequence[Configuration],
    space: FreeSpace,
    spec: ClusterSpec | None,
) -> None:
    sizes = [
        required_bytes(request, c, spec) * _FILE_SYSTEM_OVERHEAD
        + _block_reserve_bytes(request, c, spec)
        for request in requests
        for c in configurations
    ]
    most_bytes = math.ceil(max(sizes, default=0))
    if space.free_bytes is not None and space.free_bytes < most_bytes:
        reserve = ", with a full HDFS block for each replica" if spec else ""
        raise TargetError(
            f"{format_rounded_size(most_bytes)} for the files of the largest workload{reserve}",
            found=f"{format_rounded_size(space.free_bytes)} are free",
            where=space.where,
            remedy="use fewer or smaller files, or a larger target",
        )


def _block_reserve_bytes(
    request: WorkloadRequest, configuration: Configuration, spec: ClusterSpec | None
) -> int:
    """Return the bytes that DataNodes reserve: a full block for each file during its write.

    At least one file counts; the number of concurrent files depends on the workload.
    """
    if spec is None or not _uses_hdfs(request):
        return 0
    block = _property(_BLOCK_SIZE, spec, configuration) or _DEFAULT_BLOCK
    return parse_size(block) * replication(spec, configuration)


def _property(name: str, spec: ClusterSpec, configuration: Configuration) -> str | None:
    """Return a trial's property: its level, or the cluster's; None for Hadoop's default."""
    level = configuration.settings.get(PREFIX + name, AS_FOUND)
    return spec.properties.get(name) if level == AS_FOUND else level


def _uses_hdfs(request: WorkloadRequest) -> bool:
    return catalog.get(request.name).needs_hadoop
