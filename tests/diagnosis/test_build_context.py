"""The context builder: stacks, rotational disks, NFS mounts and figures of a run."""

from __future__ import annotations

import pytest

from iostudy.diagnosis.context import (
    DiagnosisContext,
    InventoryDevice,
    InventoryMount,
    SerialUsage,
    WorkloadProperties,
    build_context,
)
from iostudy.workloads.definition import SerialResource

DISK = InventoryDevice("sda", partitions=("sda1",), claims_rotational=True)
VOLUME = InventoryDevice("dm-0", members=("sda1",), claims_rotational=True)
LOOP = InventoryDevice("loop0", claims_rotational=True, file_backed=True)


def test_only_a_physical_disk_is_rotational() -> None:
    context = build_context(("dm-0",), (DISK, VOLUME, LOOP), (), {}, virtual_machine=False)
    assert context.rotational == {"sda"}
    assert context.members == {"sda1": ("sda",), "dm-0": ("sda1",)}
    assert context.is_rotational("dm-0")


def test_no_disk_of_a_virtual_machine_is_rotational() -> None:
    assert not build_context(("sda",), (DISK,), (), {}, virtual_machine=True).rotational


def test_an_nfs_source_with_several_mounts_counts_once() -> None:
    mounts = [
        InventoryMount("/", "/dev/sda1", "ext4"),
        InventoryMount("/home", "server:/export", "nfs4"),
        InventoryMount("/data", "server:/export", "nfs4"),
    ]
    assert build_context((), (), mounts, {}, virtual_machine=False).nfs_mounts == ("/home",)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        (
            {"waits": 70.0, "more_waits": 40.0, "use": 90.0},
            (SerialUsage("the log", 100.0, 90.0, stores=True),),
        ),
        ({"waits": 70.0}, ()),
    ],
)
def test_serial_resources_need_all_their_figures(figures, expected) -> None:
    log = SerialResource("the log", ("waits", "more_waits"), "use", stores=True)
    workload = WorkloadProperties(serial_resources=(log,), measured_seconds="took")
    context = DiagnosisContext(workload=workload).add_run_figures(figures | {"took": 3.0})
    assert (context.serial, context.measured_seconds) == (expected, 3.0)
