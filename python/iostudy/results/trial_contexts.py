"""Contexts of diagnoses: what the ledger knows of the host and of the workload of a run (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from iostudy.diagnosis.context import (
    DiagnosisContext,
    InventoryDevice,
    InventoryMount,
    OperatingPoint,
    WorkloadProperties,
    build_context,
    collect_operating_points,
)
from iostudy.ledger.rows import TrialRow
from iostudy.study.model import Study
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog

OperatingPoints = Mapping[str, tuple[OperatingPoint, ...]]
_MOUNT = ("point", "source", "filesystem")


def prepare_trial_contexts(
    study: Study, circumstances: Mapping[str, Any], rows: Iterable[TrialRow]
) -> Callable[[TrialRow], DiagnosisContext]:
    """Return what builds the context of a trial; ``rows`` are all trials of the study.

    ``circumstances`` are those of the ledger.
    """
    operating_points = collect_operating_points(_select_summaries(rows))
    requests = {request.label: request for request in study.workloads}
    configurations = {choice.label: choice for choice in study.configurations()}

    @cache
    def build(label: str, configuration: str, devices: tuple[str, ...]) -> DiagnosisContext:
        request = requests[label]
        options = apply_configuration(request, configurations[configuration])
        return build_run_context(circumstances, devices, request.name, options, operating_points)

    return lambda row: build(row.workload, row.configuration, row.devices).add_run_figures(
        row.figures or {}
    )


def find_members(circumstances: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the devices directly below each volume and array."""
    return {device.name: device.members for device in _inventory(circumstances) if device.members}


def _select_summaries(rows: Iterable[TrialRow]) -> Iterator[TelemetrySummary]:
    """Select the slowest, middle and fastest trial of each configuration on each workload.

    The order is that of the requests a second of its devices. Each trial is compared with all
    selected ones, so that a large study cannot select every trial.
    """
    groups: dict[tuple[str, str, tuple[str, ...]], list[TelemetrySummary]] = {}
    for row in rows:
        if row.summary is not None:
            groups.setdefault((row.workload, row.configuration, row.devices), []).append(
                row.summary
            )
    for (_, _, devices), summaries in groups.items():
        ordered = sorted(
            summaries,
            key=lambda summary: sum(
                summary.devices[name]["r/s"] + summary.devices[name]["w/s"]
                for name in devices
                if name in summary.devices
            ),
        )
        places = {0, len(ordered) // 2, len(ordered) - 1}
        yield from (ordered[place] for place in places)


def build_run_context(
    circumstances: Mapping[str, Any],
    devices: tuple[str, ...],
    workload: str,
    options: BaseModel,
    operating_points: OperatingPoints,
) -> DiagnosisContext:
    """Build the context of runs of a workload with these options, without their own figures."""
    definition = catalog.get(workload)
    directories = [str(directory) for directory in definition.make(options).directories()]
    properties = WorkloadProperties(
        concurrency=definition.concurrency(options),
        spins=definition.spins(options),
        serial_resources=definition.serial_resources(options),
        measured_seconds=definition.measured_seconds,
    )
    return build_context(
        devices,
        _inventory(circumstances),
        _mounts(circumstances, directories, at_target=not (directories or devices)),
        operating_points,
        virtual_machine=bool(_host(circumstances).get("virtualisation")),
        free_page_reporting=bool(_host(circumstances).get("free_page_reporting")),
        names=_mapping(_mapping(circumstances.get("target")).get("disks")),
        workload=properties,
    )


def _inventory(circumstances: Mapping[str, Any]) -> list[InventoryDevice]:
    recorded = _mapping(_host(circumstances).get("block_devices"))
    return [
        InventoryDevice(
            name,
            members=tuple(values.get("slaves") or ()),
            partitions=tuple(values.get("partitions", ())),
            claims_rotational=bool(values.get("rotational")),
            file_backed=bool(values.get("backing_file")),
        )
        for name, values in ((name, _mapping(device)) for name, device in recorded.items())
    ]


def _mounts(
    circumstances: Mapping[str, Any], directories: Sequence[str], *, at_target: bool
) -> Iterator[InventoryMount]:
    """The mounts of the directories that the workload names, or that of the target.

    The ledger has the target's mount before all others.
    """
    mounts = _mapping(_host(circumstances).get("mounts"))
    for place in list(mounts)[:1] if at_target else directories:
        if values := _mapping(mounts.get(place)):
            yield InventoryMount(**{name: values.get(name, "") for name in _MOUNT})


def _host(circumstances: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(circumstances.get("host"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
