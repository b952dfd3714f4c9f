"""Disk space of a study: its files, the data that it writes, and the free space."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration
from iostudy.study.model import ServiceSpec, Study, WorkloadRequest
from iostudy.study.plan import whole_plots
from iostudy.study.requests import make_workload
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
    if not all(file_system.f_blocks for file_system in file_systems):
        return FreeSpace(where, None)
    return FreeSpace(where, sum(system.f_bavail * system.f_frsize for system in file_systems))


def smallest_free_space(where: str, directories: Iterable[Path]) -> FreeSpace:
    """Return the free space of the fullest of the directories' file systems that is known."""
    spaces = (measure_free_space(where, directory).free_bytes for directory in directories)
    return FreeSpace(where, min((space for space in spaces if space is not None), default=None))


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
    in_data_dirs = [r for r in requests if spec and spec.data_dirs and _is_served(r)]
    on_target = [r for r in requests if r not in in_data_dirs]
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
    own_bytes = make_workload(request, configuration).space_bytes()
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


@dataclass(frozen=True)
class DataVolume:
    """The largest space of files at one time, and the bytes that each block writes.

    ``unknown`` are the workloads whose writes are unknown before a run; the bytes exclude them. The
    bytes exclude the file system's own, and repeated preparations within a block.
    """

    peak_bytes: int
    block_bytes: int
    unknown: tuple[str, ...]


def estimate_volume(study: Study) -> DataVolume:
    """Estimate the volume of a study without unknown levels, with all copies in a service."""
    spec = study.service_spec if study.starts_service else None
    configurations = study.configurations()
    trials = [(request, c) for request in study.workloads for c in configurations]
    written = {(r.label, c.label): _written_bytes(r, c, spec) for r, c in trials}
    unknown = (label for (label, _), size_bytes in written.items() if size_bytes is None)
    prepared = sum(_prepared_bytes(study, request, spec) for request in study.workloads)
    return DataVolume(
        peak_bytes=max((required_bytes(r, c, spec) for r, c in trials), default=0),
        block_bytes=prepared + sum(size_bytes or 0 for size_bytes in written.values()),
        unknown=tuple(dict.fromkeys(unknown)),
    )


def _written_bytes(
    request: WorkloadRequest, configuration: Configuration, spec: ServiceSpec | None
) -> int | None:
    made = make_workload(request, configuration)
    written = made.written_bytes()
    return None if written is None else written * count_copies(request, configuration, spec)


def _prepared_bytes(study: Study, request: WorkloadRequest, spec: ServiceSpec | None) -> int:
    """The bytes that a block prepares: once for each file system and each kind of data."""
    total = 0
    for plot in whole_plots(study.configurations()):
        kinds: dict[str, int] = {}
        for configuration in plot:
            made = make_workload(request, configuration)
            copies = count_copies(request, configuration, spec)
            kinds[made.preparation()] = made.prepared_bytes() * copies
        total += sum(kinds.values())
    return total
