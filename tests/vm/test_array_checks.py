"""Checks of an md array: I/O of others on its own disks, and a bystander anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.vm.bench import limited_by, slow
from tests.vm.conftest import SPARES
from tests.vm.machine import Machine
from tests.vm.test_limits import GROUP, READS, capped
from tests.vm.volumes import by_id, kernel_name

COPIES = ("mirror-0", "mirror-1")
FEW_READS = READS | {"size": "512KiB"}
"""Of files that are made fast although the disks are slow."""


@pytest.fixture(scope="module")
def array(booted: Machine) -> Iterator[str]:
    """The kernel name of an array of two disks and an idle spare, mounted at /checked."""
    disks = " ".join(map(by_id, (*COPIES, SPARES[1])))
    booted.shell(
        f"""
        mdadm --create /dev/md/checked --run --assume-clean --level 1 --raid-devices 2 \
            --spare-devices 1 {disks}
        udevadm settle
        mkfs.ext4 -q -F /dev/md/checked
        mkdir -p /checked
        mount /dev/md/checked /checked
        """
    )
    yield kernel_name(booted, "/dev/md/checked")
    booted.shell(f"umount /checked; mdadm --stop /dev/md/checked; mdadm --zero-superblock {disks}")


@pytest.fixture(scope="module")
def disk(booted: Machine) -> Iterator[str]:
    """The kernel name of another disk, mounted at /other."""
    booted.shell(
        f"mkfs.ext4 -q -F {by_id(SPARES[0])}; mkdir -p /other; mount {by_id(SPARES[0])} /other"
    )
    yield kernel_name(booted, by_id(SPARES[0]))
    booted.shell(f"umount /other; wipefs -qa {by_id(SPARES[0])}")


@contextmanager
def checked(machine: Machine, array: str) -> Iterator[None]:
    """Checks of the array one after another, whose disks serve 8 MiB a second."""
    again = "grep -q idle sync_action && echo check >sync_action; sleep 0.1"
    with slow(machine, COPIES[0], bps=8 << 20), slow(machine, COPIES[1], bps=8 << 20):
        machine.shell(
            f"""
            cd /sys/block/{array}/md
            echo 100000 >sync_speed_max
            echo 50000 >sync_speed_min
            touch /run/checking
            (set +e; while test -e /run/checking; do {again}; done) >/dev/null 2>&1 &
            """
        )
        yield
        machine.shell(f"rm /run/checking; sleep 1; echo idle >/sys/block/{array}/md/sync_action")


def test_the_check_of_an_array_is_io_of_others(machine: Machine, array: str) -> None:
    with checked(machine, array):
        limits = limited_by(machine, "/checked", FEW_READS)
    assert limits[:1] == [("foreign", f"check of {array}")]


def test_the_check_of_another_array_is_not_blamed(machine: Machine, array: str, disk: str) -> None:
    with checked(machine, array), capped(machine, disk, "riops=20"):
        limits = limited_by(machine, "/other", FEW_READS, GROUP)
    # An emulated machine may be too slow to reach the cap; nothing else is to be named.
    assert set(limits) <= {("cap", disk)}


def test_an_idle_spare_is_inactive(machine: Machine, array: str) -> None:
    script = (
        f"from iostudy.host.raid_arrays import read_array; print(read_array({array!r}).inactive)"
    )
    found = machine.run(".venv/bin/python", "-c", script).stdout.strip()
    assert found == str((kernel_name(machine, by_id(SPARES[1])),))
