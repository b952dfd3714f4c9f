"""Diagnoses of a volume with one fault, each built in the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.vm.bench import limited_by, slow
from tests.vm.machine import Machine
from tests.vm.volumes import SPINDLES, by_id, kernel_name

pytestmark = pytest.mark.usefixtures("volumes")

GROUP = "/sys/fs/cgroup/limited"
READS = {
    "operation": "read",
    "order": "random",
    "record_size": "4KiB",
    "size": "4MiB",
    "jobs": "8",
    "direct": "true",
    "verify": "false",
    "duration": "8s",
}


@contextmanager
def capped(machine: Machine, device: str, cap: str) -> Iterator[None]:
    """Whoever is in the group may do so much with the device."""
    number = machine.shell(f"cat /sys/class/block/{device}/dev").strip()
    machine.shell(f"mkdir -p {GROUP}; echo '{number} {cap}' >{GROUP}/io.max")
    try:
        yield
    finally:
        machine.shell(f"echo '{number} riops=max wiops=max' >{GROUP}/io.max")


def test_a_cap_on_the_volume(machine: Machine) -> None:
    volume = kernel_name(machine, "/dev/vg0/data")
    with capped(machine, volume, "riops=100"):
        assert limited_by(machine, "/data", READS, GROUP)[:1] == [("cap", volume)]


def test_a_cap_on_one_disk_below_it(machine: Machine) -> None:
    disk = kernel_name(machine, by_id(SPINDLES[1]))
    with capped(machine, disk, "riops=20"):
        assert limited_by(machine, "/data", READS, GROUP)[:1] == [("cap", disk)]


def test_a_slow_disk_below_a_raid_10(machine: Machine) -> None:
    disk = kernel_name(machine, by_id(SPINDLES[2]))
    with slow(machine, SPINDLES[2], iops=60):
        assert limited_by(machine, "/home", READS | {"jobs": "16"})[:1] == [("member", disk)]
