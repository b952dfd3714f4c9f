"""Whether the files of a study fit where they are to lie."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
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

# What a file system needs beside the files themselves: inodes, extents, its journal.
_ROOM_TO_SPARE = 1.02
_REPLICATION: Final = "dfs.replication"
_BLOCK_SIZE: Final = "dfs.blocksize"
_DEFAULT_BLOCK: Final = "128MiB"
"""Of a file where nobody asks for others: hdfs-default.xml (Apache Hadoop 3.4.2)."""


@dataclass(frozen=True)
class FreeSpace:
    """A place and what it has free for ordinary users; None where that cannot be told."""

    where: str
    free_bytes: int | None


def room_in(where: str, *directories: Path) -> FreeSpace:
    """What the file systems of the directories have left, each counted once."""
    found = {directory.stat().st_dev: os.statvfs(directory) for directory in directories}
    return FreeSpace(where, sum(each.f_bavail * each.f_frsize for each in found.values()))


def require_room(
    requests: Sequence[WorkloadRequest],
    configurations: Sequence[Configuration],
    target: FreeSpace,
    spec: ClusterSpec | None,
) -> None:
    """TargetError unless the files of every trial fit, with what a file system takes for itself.

    They lie on the target, but for those in a cluster with data directories of its own, ``spec``.
    What is unknown is taken to be enough.
    """
    apart = [each for each in requests if spec and spec.data_dirs and _in_hdfs(each)]
    on_target = [each for each in requests if each not in apart]
    _require(on_target, configurations, target, spec)
    if apart and spec is not None:
        where = ", ".join(map(str, spec.data_dirs))
        _require(apart, configurations, room_in(where, *spec.data_dirs), spec)


def replication(spec: ClusterSpec, configuration: Configuration) -> int:
    """How many DataNodes hold each block that a trial writes."""
    replicas = _property(_REPLICATION, spec, configuration)
    return int(replicas or spec.replication)


def needed_bytes(
    request: WorkloadRequest, configuration: Configuration, spec: ClusterSpec | None
) -> int:
    """What a trial's files take with all their replicas; 0 where nobody can tell."""
    (own_bytes,) = space_bytes([request], [configuration])
    return own_bytes * (replication(spec, configuration) if spec and _in_hdfs(request) else 1)


def _require(
    requests: Sequence[WorkloadRequest],
    configurations: Sequence[Configuration],
    room: FreeSpace,
    spec: ClusterSpec | None,
) -> None:
    each = [
        needed_bytes(request, c, spec) * _ROOM_TO_SPARE + _set_aside_bytes(request, c, spec)
        for request in requests
        for c in configurations
    ]
    most_bytes = math.ceil(max(each, default=0))
    if room.free_bytes is not None and room.free_bytes < most_bytes:
        aside = ", with a whole block of HDFS for each replica" if spec else ""
        raise TargetError(
            f"{format_rounded_size(most_bytes)} for the files of the largest workload{aside}",
            found=f"{format_rounded_size(room.free_bytes)} are free",
            where=room.where,
            remedy="give fewer or smaller files, or a larger target",
        )


def _set_aside_bytes(
    request: WorkloadRequest, configuration: Configuration, spec: ClusterSpec | None
) -> int:
    """What the DataNodes want beside: a whole block for each file while it is written.

    Of one file at least; how many are written at once depends on the workload.
    """
    if spec is None or not _in_hdfs(request):
        return 0
    block = _property(_BLOCK_SIZE, spec, configuration) or _DEFAULT_BLOCK
    return parse_size(block) * replication(spec, configuration)


def _property(name: str, spec: ClusterSpec, configuration: Configuration) -> str | None:
    """What a trial is told: its level, else the cluster's own; None for Hadoop's default."""
    level = configuration.settings.get(PREFIX + name, AS_FOUND)
    return spec.properties.get(name) if level == AS_FOUND else level


def _in_hdfs(request: WorkloadRequest) -> bool:
    return catalog.get(request.name).needs_hadoop
