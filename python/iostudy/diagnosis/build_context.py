"""Construction of a diagnosis context from the inventory, mounts and the workload (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint, SerialUsage

if TYPE_CHECKING:
    from iostudy.workloads.definition import SerialResource

_NFS = ("nfs", "nfs4")


@dataclass(frozen=True)
class InventoryDevice:
    """A block device of the inventory, by its kernel name.

    ``members`` are the devices directly below a volume or array. ``claims_rotational`` is the
    kernel's flag; files and volumes repeat the flag of what is below them.
    """

    name: str
    members: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    claims_rotational: bool = False
    file_backed: bool = False


@dataclass(frozen=True)
class InventoryMount:
    """A mounted file system."""

    point: str
    source: str
    filesystem: str


@dataclass(frozen=True)
class WorkloadProperties:
    """The declared properties of a workload; the defaults describe an unknown program.

    ``measured_seconds`` names the figure with the duration that the workload measured, "" if it
    measures the whole run.
    """

    concurrency: int | None = None
    spins: bool = False
    serial_resources: tuple[SerialResource, ...] = ()
    measured_seconds: str = ""


UNKNOWN_WORKLOAD = WorkloadProperties()


def build_context(
    devices: tuple[str, ...],
    inventory: Iterable[InventoryDevice],
    mounts: Iterable[InventoryMount],
    operating_points: Mapping[str, tuple[OperatingPoint, ...]],
    *,
    virtual_machine: bool,
    free_page_reporting: bool = False,
    names: Mapping[str, str] | None = None,
    workload: WorkloadProperties = UNKNOWN_WORKLOAD,
) -> DiagnosisContext:
    """Build the context of a run on ``devices`` and ``mounts``.

    In a virtual machine no disk counts as rotational: the hypervisor hides what a disk is.
    """
    known = tuple(inventory)
    return DiagnosisContext(
        devices=devices,
        members={device: members for each in known for device, members in _stack(each)},
        rotational=frozenset() if virtual_machine else _rotational_disks(known),
        nfs_mounts=_distinct_nfs_mounts(mounts),
        concurrency=workload.concurrency,
        spins=workload.spins,
        operating_points=operating_points,
        virtual_machine=virtual_machine,
        free_page_reporting=free_page_reporting,
        names=names or {},
    )


def add_run_figures(
    context: DiagnosisContext, workload: WorkloadProperties, figures: Mapping[str, float]
) -> DiagnosisContext:
    """Add the workload's own figures of one run: its serial resources and measured duration."""
    return replace(
        context,
        serial=tuple(_serial_usage(workload.serial_resources, figures)),
        measured_seconds=figures.get(workload.measured_seconds),
    )


def _stack(device: InventoryDevice) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The devices directly below it, and below its partitions: a volume's member may be one."""
    if device.members:
        yield device.name, device.members
    yield from ((partition, (device.name,)) for partition in device.partitions)


def _rotational_disks(inventory: Iterable[InventoryDevice]) -> frozenset[str]:
    return frozenset(
        each.name
        for each in inventory
        if each.claims_rotational and not each.file_backed and not each.members
    )


def _distinct_nfs_mounts(mounts: Iterable[InventoryMount]) -> tuple[str, ...]:
    """The NFS mounts, one of each source: all mounts of a source show the same figures."""
    points: dict[str, str] = {}
    for mount in mounts:
        if mount.filesystem in _NFS:
            points.setdefault(mount.source, mount.point)
    return tuple(points.values())


def _serial_usage(
    resources: Iterable[SerialResource], figures: Mapping[str, float]
) -> Iterator[SerialUsage]:
    """Those with all their figures: an earlier version of the workload may not report them."""
    for resource in resources:
        if figures.keys() >= {*resource.waited, *([resource.used] if resource.used else [])}:
            yield SerialUsage(
                resource.name,
                waited=min(100.0, math.fsum(figures[name] for name in resource.waited)),
                used=figures[resource.used] if resource.used else None,
                stores=resource.stores,
            )
