"""Disk space and written data of a study, before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.node.free_space import count_copies, required_bytes
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import whole_plots
from iostudy.study.requests import apply_configuration
from iostudy.study.service_spec import ServiceSpec
from iostudy.workloads import catalog


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
    made = catalog.get(request.name).make(apply_configuration(request, configuration))
    own = made.written_bytes()
    return None if own is None else own * count_copies(request, configuration, spec)


def _prepared_bytes(study: Study, request: WorkloadRequest, spec: ServiceSpec | None) -> int:
    """The bytes that a block prepares: once for each file system and each kind of data."""
    total = 0
    for plot in whole_plots(study.configurations()):
        kinds: dict[str, int] = {}
        for configuration in plot:
            made = catalog.get(request.name).make(apply_configuration(request, configuration))
            copies = count_copies(request, configuration, spec)
            kinds[made.preparation()] = made.prepared_bytes() * copies
        total += sum(kinds.values())
    return total
