"""Diagnoses of a volume with one fault, each built in the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.vm.bench import limited_by, slow
from tests.vm.conftest import SPARES
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


@pytest.fixture
def mirror(machine: Machine) -> Iterator[str]:
    """The kernel name of an array of two disks and an idle spare, mounted at /checked."""
    disks = " ".join(map(by_id, ("mirror-0", "mirror-1", SPARES[1])))
    machine.shell(
        f"""
        mdadm --create /dev/md/checked --run --assume-clean --level 1 --raid-devices 2 \
            --spare-devices 1 {disks}
        udevadm settle
        mkfs.ext4 -q -F /dev/md/checked
        mkdir -p /checked
        mount /dev/md/checked /checked
        """
    )
    yield kernel_name(machine, "/dev/md/checked")
    machine.shell(f"umount /checked; mdadm --stop /dev/md/checked; mdadm --zero-superblock {disks}")


@contextmanager
def checked(machine: Machine, array: str) -> Iterator[None]:
    """A check of the array, whose disks serve 4 MiB a second, for as long as this lasts."""
    begin = "echo 100000 >sync_speed_max; echo 50000 >sync_speed_min; echo check >sync_action"
    action = f"/sys/block/{array}/md/sync_action"
    with slow(machine, "mirror-0", bps=4 << 20), slow(machine, "mirror-1", bps=4 << 20):
        machine.shell(f"cd $(dirname {action}); {begin}")
        yield
        assert machine.shell(f"cat {action}").strip() == "check"
    machine.shell(f"echo idle >{action}")


def test_the_check_of_an_array_is_io_of_others(machine: Machine, mirror: str) -> None:
    with checked(machine, mirror):
        limits = limited_by(machine, "/checked", READS)
    assert limits[:1] == [("foreign", f"check of {mirror}")]


def test_the_check_of_another_array_is_not_blamed(machine: Machine, mirror: str) -> None:
    volume = kernel_name(machine, "/dev/vg0/data")
    with checked(machine, mirror), capped(machine, volume, "riops=100"):
        limits = limited_by(machine, "/data", READS, GROUP)
    assert limits[:1] == [("cap", volume)]
    assert "foreign" not in {limit for limit, _ in limits}


def test_an_idle_spare_is_inactive(machine: Machine, mirror: str) -> None:
    script = (
        f"from iostudy.host.raid_arrays import read_array; print(read_array('{mirror}').inactive)"
    )
    found = machine.run(".venv/bin/python", "-c", script).stdout.strip()
    assert found == str((kernel_name(machine, by_id(SPARES[1])),))
