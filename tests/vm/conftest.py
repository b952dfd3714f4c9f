"""One machine for all tests, with a volume group, an array, paths to one disk and NFS mounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vm import machine as vm
from tests.vm.machine import Disk, Machine

SPINDLES = tuple(f"spindle-{number}" for number in range(4))
SPARES = ("spare-0", "spare-1")
DISKS = (
    *map(Disk, SPINDLES),
    *map(Disk, SPARES),
    Disk("mirror-0"),
    Disk("mirror-1"),
    Disk("path-0", image="two-paths"),
    Disk("path-1", image="two-paths"),
    Disk("unplugged"),
)
MODULES = "dm-mod dm-raid raid1 raid10 dm-multipath dm-service-time bfq kyber-iosched loop"


def by_id(serial: str) -> str:
    """The link that udev makes for a disk."""
    return f"/dev/disk/by-id/scsi-SQEMU_QEMU_HARDDISK_{serial}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder is of the suite for the virtual machine, which has a target of its own."""
    reason = vm.missing()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.vm)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def booted() -> Iterator[Machine]:
    with vm.booted(DISKS) as machine:
        machine.run("modprobe", "--all", *MODULES.split())
        yield machine


@pytest.fixture
def machine(booted: Machine) -> Iterator[Machine]:
    """The machine; after each test nothing is held, which may have failed with it."""
    yield booted
    booted.iostudy("restore", "--accept", check=False)


@pytest.fixture(scope="session")
def volumes(booted: Machine) -> Machine:
    """A volume group of four disks: home as RAID 10 and data striped, both mounted ext4."""
    disks = " ".join(map(by_id, SPINDLES))
    booted.shell(
        f"""
        vgcreate -y vg0 {disks}
        lvcreate -y --type raid10 --nosync --mirrors 1 --stripes 2 -L 128M -n home vg0
        lvcreate -y --type striped --stripes 4 -L 128M -n data vg0
        for name in home data; do
            mkfs.ext4 -q /dev/vg0/$name
            mkdir -p /$name
            mount /dev/vg0/$name /$name
        done
        """
    )
    return booted


def kernel_name(machine: Machine, link: str) -> str:
    """``sda``, ``dm-2``: what a link of udev's leads to."""
    return Path(machine.run("readlink", "-f", link).stdout.strip()).name


def queues(machine: Machine) -> str:
    """Every attribute of the queues of all disks, and of what schedules above them."""
    script = "cd /sys/block; find */queue/ -type f | sort | xargs grep -s . || true"
    return machine.shell(script)
