"""The virtual machine of all tests, with LVM, md, multipath and NFS mounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vm import machine as vm
from tests.vm import volumes as made
from tests.vm.machine import Disk, Machine

SPARES = ("spare-0", "spare-1")
DISKS = (
    *made.DISKS,
    *map(Disk, SPARES),
    Disk("mirror-0"),
    Disk("mirror-1"),
    Disk("path-0", image="two-paths"),
    Disk("path-1", image="two-paths"),
    Disk("server-0"),
    Disk("unplugged"),
    Disk("flash", is_nvme=True),
)
MODULES = f"{made.MODULES} dm-multipath dm-service-time nvme bfq kyber-iosched loop"


@pytest.hookimpl(tryfirst=True)  # before unit tests are marked
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder is of the suite for the virtual machine, which has a target of its own."""
    reason = vm.find_missing_requirement()
    folder = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(folder):
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
    made.make_group(booted)
    return booted


def queues(machine: Machine) -> str:
    """Every attribute of the queues of all disks, and of what schedules above them."""
    script = "cd /sys/block; find */queue/ -type f | sort | xargs grep -s . || true"
    return machine.shell(script)
