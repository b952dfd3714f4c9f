"""Other kinds of disks: arrays in resync, multipath, zones, hot removal."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.vm.bench import write_synced
from tests.vm.conftest import SPARES, queues
from tests.vm.machine import Machine
from tests.vm.volumes import by_id, kernel_name

MULTIPATH = """\
defaults {
    find_multipaths no
}
blacklist {
    device {
        vendor .*
        product .*
    }
}
blacklist_exceptions {
    device {
        vendor QEMU
        product .*
    }
}
"""


@pytest.fixture(scope="module")
def array(booted: Machine) -> Iterator[str]:
    """The kernel name of a mirror whose first synchronisation takes minutes."""
    booted.shell(
        f"""
        echo 1000 >/proc/sys/dev/raid/speed_limit_min
        echo 2000 >/proc/sys/dev/raid/speed_limit_max
        mdadm --create /dev/md/mirror --run --level 1 --raid-devices 2 \
            {by_id("mirror-0")} {by_id("mirror-1")}
        udevadm settle
        """
    )
    yield kernel_name(booted, "/dev/md/mirror")
    booted.shell(
        f"""
        mdadm --stop /dev/md/mirror
        mdadm --zero-superblock {by_id("mirror-0")} {by_id("mirror-1")}
        """
    )


@pytest.fixture(scope="module")
def paths(booted: Machine) -> str:
    """The kernel name of the multipath device on two paths to one disk."""
    booted.run("sh", "-c", "cat >/etc/multipath.conf", text=MULTIPATH)
    booted.run("multipath", "-v0", f"/dev/{kernel_name(booted, by_id('two-paths'))}")
    booted.run("udevadm", "settle")
    (name,) = booted.shell("grep -l ^mpath- /sys/block/dm-*/dm/uuid").splitlines()
    return name.split("/")[3]


def test_an_array_in_resync_is_a_finding(machine: Machine, array: str) -> None:
    output = machine.iostudy("doctor", "/dev/md/mirror").stdout
    assert f" = {array} = md/mirror, " in output
    assert "md raid1 of 2 members" in output
    assert "raid-moving-data" in output
    assert f"{array}  resync, " in output
    assert "$ mdadm --wait" in output


def test_members_of_an_array_are_changed_together(machine: Machine, array: str) -> None:
    members = {kernel_name(machine, by_id(f"mirror-{number}")) for number in range(2)}
    output = machine.iostudy("set", "block.scheduler=kyber", "--on", f"members of {array}").stderr
    assert all(f"scheduler of {name}: none -> kyber" in output for name in members)
    machine.iostudy("restore")


def test_a_multipath_device_schedules_itself(machine: Machine, paths: str) -> None:
    output = machine.iostudy("doctor", paths).stdout
    assert "holds mpath_member" in output
    assert ", 1.00 GiB, multipath" in output
    assert (
        f"block.scheduler@{paths} "
        in machine.iostudy("get", "block.scheduler", "--on", paths).stdout
    )


def test_no_rule_is_written_for_multipath(machine: Machine, paths: str) -> None:
    machine.iostudy("set", "block.scheduler=bfq", "--on", paths)
    refused = machine.iostudy("persist", check=False)
    assert refused.returncode == 2
    assert "it is a multipath device or a path of one" in refused.stderr


@pytest.fixture(scope="module")
def flash(booted: Machine) -> str:
    """On a part of an NVMe disk that has no scheduler and, before Linux 6.2, counts nothing."""
    booted.run("udevadm", "settle")
    booted.shell("addpart /dev/nvme0n1 1 2048 1000000; udevadm settle")
    booted.shell("mkfs.ext4 -q /dev/nvme0n1p1; mkdir /flash; mount /dev/nvme0n1p1 /flash")
    assert booted.shell("cat /sys/block/nvme0n1/queue/iostats").strip() == "0"
    return "/flash"


def test_the_scheduler_of_an_nvme_disk_with_paths_is_set_in_these(
    machine: Machine, flash: str
) -> None:
    output = machine.iostudy("set", "block.scheduler=kyber", "--on", flash).stderr
    assert "scheduler of nvme0c0n1: none -> kyber" in output
    unkept = machine.iostudy("persist", check=False)
    assert "for which the kernel sends no events to udev" in unkept.stderr
    machine.iostudy("restore")
    assert machine.shell("cat /sys/block/nvme0c0n1/queue/scheduler").startswith("[none]")


@pytest.mark.all_plugins  # watch
def test_activity_of_an_nvme_disk_is_reported_for_its_paths(machine: Machine, flash: str) -> None:
    work = ("dd", "if=/dev/nvme0n1", "of=/dev/null", "bs=1M", "count=64", "iflag=direct")
    document = json.loads(machine.iostudy("watch", "--json", flash, "--", *work).stdout)
    assert document["device"] == "nvme0c0n1"
    assert document["devices"]["nvme0c0n1"]["kB_read"] >= 64 * 1024
    document = write_synced(machine, flash)
    assert document["device"] == "nvme0c0n1"
    assert document["devices"]["nvme0c0n1"]["kB_wrtn"] >= 16 * 1024


def test_a_zoned_disk_takes_only_what_keeps_its_order(machine: Machine) -> None:
    machine.run("modprobe", "null_blk", "zoned=1", "zone_size=16", "gb=1", "memory_backed=1")
    assert "zoned (host-managed)" in machine.iostudy("doctor", "nullb0").stdout
    before = queues(machine)
    refused = machine.iostudy("set", "block.scheduler=bfq", "--on", "nullb0", check=False)
    assert refused.returncode == 3
    assert "it offers mq-deadline, none" in refused.stderr
    assert queues(machine) == before


def test_udev_takes_the_rule_for_disks_with_a_world_wide_name(machine: Machine) -> None:
    names = [kernel_name(machine, by_id(serial)) for serial in SPARES]
    places = [argument for serial in SPARES for argument in ("--on", by_id(serial))]
    values = ("block.scheduler=mq-deadline", "block.mq-deadline.read_expire=80")
    machine.iostudy("set", *values, *places)
    machine.iostudy("persist", "--format", "udev", "--install")
    for name in names:
        machine.shell(f"echo none >/sys/block/{name}/queue/scheduler")
    try:
        for name in names:
            tried = machine.run("udevadm", "test", f"/sys/block/{name}").stderr
            assert "/queue/scheduler' writing 'mq-deadline'" in tried
            assert "/queue/iosched/read_expire' writing '80'" in tried
        # Of what is hidden udev would wait for ever to hear.
        disks = ("--subsystem-match=block", "--attr-nomatch=hidden=1")
        machine.run("udevadm", "trigger", "--action=add", "--settle", *disks)
        assert machine.shell("cd /sys/block; grep -l '\\[mq-deadline\\]' sd*/queue/scheduler") == (
            "".join(f"{name}/queue/scheduler\n" for name in sorted(names))
        )
    finally:
        machine.shell("rm /etc/udev/rules.d/99-iostudy.rules; udevadm control --reload")


def test_a_disk_that_is_pulled_out_is_named_and_the_rest_restored(machine: Machine) -> None:
    pulled, kept = (kernel_name(machine, by_id(serial)) for serial in ("unplugged", SPARES[0]))
    places = ("--on", by_id("unplugged"), "--on", by_id(SPARES[0]))
    original = machine.shell(f"cd /sys/block/{kept}/queue; cat scheduler read_ahead_kb")
    machine.iostudy("set", "block.scheduler=bfq", "block.read_ahead_kb=512", *places)
    machine.qmp("device_del", id="unplugged")
    deadline = time.monotonic() + 30
    while machine.run("test", "-e", f"/sys/block/{pulled}", check=False).returncode == 0:
        assert time.monotonic() < deadline
    output = machine.iostudy("restore").stderr
    assert f"{pulled}: the device is gone, and its changes with it" in output
    assert machine.shell(f"cd /sys/block/{kept}/queue; cat scheduler read_ahead_kb") == original
    assert "nothing to restore" in machine.iostudy("restore").stderr
