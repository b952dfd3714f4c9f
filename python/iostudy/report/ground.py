"""What has to be known beside a trial's figures to tell what limited it, from its study (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import BaseModel

from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint, SerialUsage, shown
from iostudy.ledger.rows import TrialRow
from iostudy.study.model import Study
from iostudy.study.requests import configured
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.definition import SerialResource, WorkloadDefinition

Shown = Mapping[str, tuple[OperatingPoint, ...]]
_NFS = ("nfs", "nfs4")


class Grounds:
    """The ground of each trial of a study.

    ``circumstances`` are those of the ledger; ``rows`` all trials, for what each device has shown.
    """

    def __init__(
        self, study: Study, circumstances: Mapping[str, Any], rows: Iterable[TrialRow]
    ) -> None:
        self._study = study
        self._circumstances = circumstances
        self._shown = shown(_telling(rows))
        self._requests = {request.label: request for request in study.workloads}
        self._configurations = {own.label: own for own in study.configurations()}
        self._alike = cache(self._made)

    def of(self, row: TrialRow) -> DiagnosisContext:
        """That of one trial."""
        ground, definition, options = self._alike(row.workload, row.configuration, row.devices)
        return _with_figures(ground, definition, options, row.figures or {})

    def _made(
        self, workload: str, configuration: str, devices: tuple[str, ...]
    ) -> tuple[DiagnosisContext, WorkloadDefinition, BaseModel]:
        request = self._requests[workload]
        options = configured(request, self._configurations[configuration])
        ground = ground_of(self._circumstances, devices, request.name, options, self._shown, {})
        return ground, catalog.get(request.name), options


def _telling(rows: Iterable[TrialRow]) -> Iterator[TelemetrySummary]:
    """Of each configuration on each workload what its slowest, middle and fastest trial saw.

    The requests a second of its devices order them. Each trial is held against all that devices
    have shown, so that the trials of a large study must not all be among it.
    """
    alike: dict[tuple[str, str, tuple[str, ...]], list[TelemetrySummary]] = {}
    for row in rows:
        if row.seen is not None:
            alike.setdefault((row.workload, row.configuration, row.devices), []).append(row.seen)
    for (_, _, devices), seens in alike.items():
        ordered = sorted(seens, key=lambda seen: _requests_per_second(seen, devices))
        places = {0, len(ordered) // 2, len(ordered) - 1}
        yield from (ordered[place] for place in places)


def _requests_per_second(seen: TelemetrySummary, devices: Iterable[str]) -> float:
    known = (seen.devices[device] for device in devices if device in seen.devices)
    return sum(figures["r/s"] + figures["w/s"] for figures in known)


def ground_of(
    circumstances: Mapping[str, Any],
    devices: tuple[str, ...],
    workload: str,
    options: BaseModel,
    shown_before: Shown,
    figures: Mapping[str, float],
) -> DiagnosisContext:
    """The ground of a workload with these options on a machine under these circumstances.

    ``figures`` are the workload's own, which tell what its operations waited for within it, and
    how long it measured.
    """
    host = _mapping(circumstances.get("host"))
    definition = catalog.get(workload)
    named = [str(directory) for directory in definition.make(options).directories()]
    ground = DiagnosisContext(
        devices=devices,
        members=members(circumstances) | _disks_of_partitions(circumstances),
        rotational=frozenset() if host.get("virtualisation") else _with_platters(circumstances),
        nfs_mounts=_nfs_mounts(host, named, at_target=not (named or devices)),
        concurrency=definition.concurrency(options),
        spins=definition.spins(options),
        shown=shown_before,
    )
    return _with_figures(ground, definition, options, figures)


def _with_figures(
    ground: DiagnosisContext,
    definition: WorkloadDefinition,
    options: BaseModel,
    figures: Mapping[str, float],
) -> DiagnosisContext:
    return replace(
        ground,
        serial=_serial(definition.one_by_one(options), figures),
        measured_seconds=figures.get(definition.measured_seconds),
    )


def _serial(
    one_by_one: Iterable[SerialResource], figures: Mapping[str, float]
) -> tuple[SerialUsage, ...]:
    """Those of which a run tells all figures: an earlier version of the workload may not have."""
    return tuple(
        SerialUsage(
            own.name,
            waited=min(100.0, math.fsum(figures[name] for name in own.waited)),
            used=figures[own.used] if own.used else None,
            stores=own.stores,
        )
        for own in one_by_one
        if figures.keys() >= {*own.waited, *([own.used] if own.used else [])}
    )


def members(circumstances: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The devices right below each volume and array."""
    devices = _devices(circumstances)
    return {name: tuple(own["slaves"]) for name, own in devices.items() if own.get("slaves")}


def _disks_of_partitions(circumstances: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What a volume lies on is often a partition, as one of a disk that also boots."""
    devices = _devices(circumstances)
    return {part: (name,) for name, own in devices.items() for part in own.get("partitions", ())}


def _devices(circumstances: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    host = _mapping(circumstances.get("host"))
    return {name: _mapping(own) for name, own in _mapping(host.get("block_devices")).items()}


def _with_platters(circumstances: Mapping[str, Any]) -> frozenset[str]:
    """Disks that say so and are no file and no volume, which repeat what is below them."""
    return frozenset(
        name
        for name, own in _devices(circumstances).items()
        if own.get("rotational") and not own.get("backing_file") and not own.get("slaves")
    )


def _nfs_mounts(
    host: Mapping[str, Any], named: Sequence[str], *, at_target: bool
) -> tuple[str, ...]:
    """Those of the directories that a trial's workload names, or that of the target.

    The target's mount stands before all others that the study is about. What is mounted at several
    points has its figures at each, and is to be counted once.
    """
    mounts = _mapping(host.get("mounts"))
    places = list(mounts)[:1] if at_target else named
    found = (_mapping(mounts.get(place)) for place in places)
    points: dict[str, str] = {}
    for own in found:
        if own.get("filesystem") in _NFS:
            points.setdefault(own["source"], own["point"])
    return tuple(points.values())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
