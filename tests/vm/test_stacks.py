"""Requests of a logical volume on an md RAID 10 of four disks."""

from __future__ import annotations

import json
import re

import pytest

from tests.vm.machine import Machine
from tests.vm.volumes import make_tower

WRITE = ("dd", "if=/dev/zero", "of=/dev/vg1/top", "bs=1M", "count=16")
NUMBER = r"([\d,.]+)"


@pytest.fixture(scope="module")
def tower(booted: Machine) -> Machine:
    """With vg1/top: a logical volume on an array of four disks."""
    make_tower(booted)
    return booted


def flow(machine: Machine, pattern: str, *how: str) -> list[float]:
    """The numbers in the report of ``watch`` on 16 MiB of writes, where the pattern has N."""
    output = machine.iostudy("watch", "vg1/top", "--", *WRITE, *how).stderr
    found = re.search(pattern.replace("N", NUMBER), output)
    assert found is not None, output
    return [float(group.replace(",", "")) for group in found.groups()]


@pytest.mark.all_plugins  # watch
@pytest.mark.usefixtures("tower")
def test_small_writes_are_copied_below_the_array_and_merged_at_the_disks(machine: Machine) -> None:
    """Pages of the cache are written back one by one: report R3's 66,000 writes/s in small."""
    given, to_array, to_disks, copies, merged, served = flow(
        machine,
        "N writes/s reached vg1/top; N/s reached md/array; "
        "N/s reached 4 devices below, N for each one above, merged N:1 into N/s\\.",
        "conv=fsync",
    )
    assert to_array == pytest.approx(given, rel=0.02)
    assert (copies, to_disks) == (2.0, pytest.approx(2 * given, rel=0.02))
    assert merged > 10
    assert merged == pytest.approx(to_disks / served, rel=0.1)


@pytest.mark.all_plugins  # watch
@pytest.mark.usefixtures("tower")
def test_large_writes_are_split_at_the_edges_of_chunks(machine: Machine) -> None:
    """Of 64 KiB, below a volume that has none: 16 in a MiB."""
    _, _, chunks, _, copies, merged, _ = flow(
        machine,
        "N writes/s reached vg1/top; N/s reached md/array, N for each one above; "
        "N/s reached 4 devices below, N for each one above, merged N:1 into N/s\\.",
        "oflag=direct",
    )
    assert (chunks, copies) == (16.0, 2.0)
    assert merged > 2


def find_misaligned(machine: Machine, *mkfs: str) -> list[str]:
    """What doctor says of the stripes of a new file system on vg1/top."""
    machine.run(*mkfs, "/dev/vg1/top")
    machine.shell("mkdir -p /top; mount /dev/vg1/top /top")
    document = json.loads(machine.iostudy("doctor", "/top", "--json", check=False).stdout)
    machine.run("umount", "/top")
    findings = document["findings"]
    return [each["found"] for each in findings if each["id"] == "file-system-off-stripe"]


@pytest.mark.usefixtures("tower")
def test_doctor_compares_the_stripes_of_file_systems(machine: Machine) -> None:
    """mkfs takes those of the volume, unless it is given others."""
    ext4 = ("mkfs.ext4", "-q", "-F", "-b", "4096")
    assert find_misaligned(machine, *ext4) == []
    assert find_misaligned(machine, *ext4, "-E", "stride=4,stripe_width=4") == ["stripes of 16KiB"]
    assert find_misaligned(machine, *ext4, "-E", "stride=0,stripe_width=0") == ["no stripe"]
