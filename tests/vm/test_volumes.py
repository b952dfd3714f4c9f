"""LVM: disks below a volume are found, changed together, and always restored."""

from __future__ import annotations

import json

import pytest

from tests.vm.bench import write_synced
from tests.vm.conftest import queues
from tests.vm.machine import Machine
from tests.vm.volumes import SPINDLES, by_id, kernel_name

pytestmark = pytest.mark.usefixtures("volumes")

MEMBERS = ("--on", "members of vg0")


@pytest.fixture(scope="module")
def spindles(volumes: Machine) -> set[str]:
    return {kernel_name(volumes, by_id(serial)) for serial in SPINDLES}


def labels(machine: Machine, *arguments: str) -> dict[str, str]:
    """Values of a setting from ``get``, by label."""
    lines = machine.iostudy("get", *arguments).stdout.splitlines()[1:]
    return {line.split()[0]: line.split()[1] for line in lines}


def test_the_queues_below_a_volume_are_those_of_its_disks(
    machine: Machine, spindles: set[str]
) -> None:
    expected = {f"block.scheduler@{name}" for name in spindles}
    for place in ("/home", "vg0/home", "/dev/mapper/vg0-home", "members of vg0"):
        assert set(labels(machine, "block.scheduler", "--on", place)) == expected


def test_read_ahead_is_that_of_the_volume(machine: Machine) -> None:
    home = kernel_name(machine, "/dev/vg0/home")
    for place in ("/home", "vg0/home"):
        assert set(labels(machine, "block.read_ahead_kb", "--on", place)) == {
            f"block.read_ahead_kb@{home}"
        }


def test_doctor_draws_the_volume_with_all_its_names(machine: Machine, spindles: set[str]) -> None:
    home = kernel_name(machine, "/dev/vg0/home")
    number = machine.shell(f"cat /sys/block/{home}/dev").strip()
    drawn = machine.iostudy("doctor", "/home").stdout
    assert f"{number} = {home} = vg0/home = vg0-home, 128 MiB, LVM, holds ext4" in drawn
    assert "ext4 on /home (" in drawn
    assert "holds LVM2_member" in drawn
    assert all(f" = {name}, 1.00 GiB" in drawn for name in spindles)
    assert "vg0/data" not in drawn


def test_doctor_and_json_agree(machine: Machine, spindles: set[str]) -> None:
    document = json.loads(machine.iostudy("doctor", "/home", "--json").stdout)
    assert spindles <= {device["name"] for device in document["stack"]}


def test_all_members_are_changed_and_restored(machine: Machine, spindles: set[str]) -> None:
    before = queues(machine)
    machine.iostudy("set", "block.scheduler=bfq", "block.nr_requests=64", *MEMBERS)
    machine.iostudy("set", "block.bfq.slice_idle=0", *MEMBERS)
    assert set(labels(machine, "block.scheduler", *MEMBERS).values()) == {"bfq"}
    assert queues(machine) != before
    assert set(labels(machine, "block.bfq.slice_idle", *MEMBERS).values()) == {"0"}
    output = machine.iostudy("restore").stderr
    assert all(f"scheduler of {name}: bfq -> none" in output for name in spindles)
    assert queues(machine) == before


def test_a_loop_device_that_is_detached_meanwhile(machine: Machine) -> None:
    machine.run("truncate", "--size=16M", "/data/image")
    loop = machine.shell("losetup --find --show --direct-io=on /data/image").strip()
    name = kernel_name(machine, loop)
    drawn = machine.iostudy("doctor", loop).stdout
    assert "ext4 on /data (" in drawn
    assert f" = {name}, 16.0 MiB, loop" in drawn
    machine.iostudy("set", "block.scheduler=bfq", "--on", name)
    machine.run("losetup", "--detach", loop)
    # The queue stays with the loop device, and gets back what it had.
    assert f"scheduler of {name}: bfq -> " in machine.iostudy("restore").stderr
    machine.run("rm", "/data/image")


def test_next_command_restores_all_members_after_a_kill(machine: Machine) -> None:
    before = queues(machine)
    killed = 0
    for tenths in range(1, 13):
        arguments = ("set", "block.scheduler=bfq", "block.read_ahead_kb=512", *MEMBERS)
        ended = machine.iostudy(*arguments, seconds=tenths / 10, check=False)
        killed += ended.returncode == -9
        machine.iostudy("restore")
        assert queues(machine) == before
    assert killed


def test_activity_of_a_mirror_is_reported_for_the_volume(machine: Machine) -> None:
    """Its disks write twice as much, and none of that is another's."""
    document = write_synced(machine, "/home")
    assert document["device"] == kernel_name(machine, "/dev/vg0/home")
