"""Check of the free space for the files of a study."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import space_bytes
from iostudy.study.service_spec import ServiceSpec
from iostudy.units import format_rounded_size
from iostudy.workloads import catalog

# Overhead of a file system: inodes, extents, its journal.
_FILE_SYSTEM_OVERHEAD = 1.02


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
    spec: ServiceSpec | None,
) -> None:
    """Raise TargetError if the files of a trial do not fit, including file system overhead.

    Files are on the target, except in a service with its own data directories. Unknown space
    counts as sufficient.
    """
    in_data_dirs = [own for own in requests if spec and spec.data_dirs and _is_served(own)]
    on_target = [own for own in requests if own not in in_data_dirs]
    _require(on_target, configurations, target, spec)
    if in_data_dirs and spec is not None:
        where = ", ".join(map(str, spec.data_dirs))
        _require(in_data_dirs, configurations, measure_free_space(where, *spec.data_dirs), spec)


def count_copies(
    request: WorkloadRequest, configuration: Configuration, spec: ServiceSpec | None
) -> int:
    """Return how often the data of a trial are stored."""
    return spec.copies(_levels(configuration)) if spec and _is_served(request) else 1


def required_bytes(
    request: WorkloadRequest, configuration: Configuration, spec: ServiceSpec | None
) -> int:
    """Return the bytes of a trial's files with all replicas; 0 if unknown."""
    (own_bytes,) = space_bytes([request], [configuration])
    return own_bytes * count_copies(request, configuration, spec)


def _require(
    requests: Sequence[WorkloadRequest],
    configurations: Sequence[Configuration],
    space: FreeSpace,
    spec: ServiceSpec | None,
) -> None:
    sizes = [
        required_bytes(request, c, spec) * _FILE_SYSTEM_OVERHEAD
        + (spec.reserved_bytes(_levels(c)) if spec and _is_served(request) else 0)
        for request in requests
        for c in configurations
    ]
    most_bytes = math.ceil(max(sizes, default=0))
    if space.free_bytes is not None and space.free_bytes < most_bytes:
        reserve = f", with {spec.reserved}" if spec else ""
        raise TargetError(
            f"{format_rounded_size(most_bytes)} for the files of the largest workload{reserve}",
            found=f"{format_rounded_size(space.free_bytes)} are free",
            where=space.where,
            remedy="use fewer or smaller files, or a larger target",
        )


def _levels(configuration: Configuration) -> dict[str, str]:
    """Return the levels of settings that are not as found."""
    return {name: level for name, level in configuration.settings.items() if level != AS_FOUND}


def _is_served(request: WorkloadRequest) -> bool:
    return bool(catalog.get(request.name).service)
