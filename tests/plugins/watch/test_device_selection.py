"""Every way to name a device, on recorded hosts and on this one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy_watch.device_selection import WatchedDevice, describe_device, select_devices
from tests.host import recorded
from tests.host.sysfs import add_disk


def test_a_volume_comes_with_what_it_consists_of(tmp_path):
    root = recorded.lvm_on_md(tmp_path)
    members = ("dm-2", "dm-0", "md127", "sda", "sdb", "dm-1", "sdc1")
    for name in ("vg0/home", "vg0-home", "mapper/vg0-home", "/dev/vg0/home", "dm-2"):
        assert select_devices([name], root) == members
    assert select_devices(["sdc1", "md/data", "sda"], root) == ("sdc1", "md127", "sda", "sdb")


def test_a_loop_device_does_not_consist_of_the_disk_below_its_file(tmp_path):
    assert select_devices(["loop0"], recorded.lvm_on_md(tmp_path)) == ("loop0",)


def test_common_name_of_a_device(tmp_path):
    root = recorded.lvm_on_md(tmp_path)
    inner = ("dm-0", "dm-1")
    assert describe_device("dm-2", root) == WatchedDevice("dm-2", "vg0/home", inner, inner)
    assert describe_device("dm-1", root).members == ("sdc1",)
    assert describe_device("dm-1", root).disks == ("sdc",)
    assert describe_device("md127", root).label == "md/data"
    assert describe_device("sdc1", root) == WatchedDevice("sdc1", "sdc1", is_partition=True)


def test_a_device_that_has_gone_is_called_by_its_name(tmp_path):
    assert describe_device("sdz", tmp_path) == WatchedDevice("sdz", "sdz")


def test_a_slash_in_a_name_is_written_as_in_the_counters(tmp_path):
    add_disk(tmp_path, "cciss!c0d0", "104:0", scheduler=None)
    assert select_devices(["cciss/c0d0"], tmp_path) == ("cciss/c0d0",)
    assert describe_device("cciss/c0d0", tmp_path).name == "cciss/c0d0"


def test_unknown_name_lists_the_devices(tmp_path):
    root = recorded.multipath(tmp_path)
    with pytest.raises(TargetError) as refused:
        select_devices(["sda", "sdq"], root)
    assert refused.value.where == "sdq"
    assert "dm-3, sda, sdb" in refused.value.remedy


def test_unknown_name_lists_similar_devices_and_counts_the_rest(tmp_path):
    for number in range(40):
        add_disk(tmp_path, f"loop{number}", f"7:{number}", scheduler=None)
    add_disk(tmp_path, "sda", "8:0", scheduler=None)
    with pytest.raises(TargetError) as refused:
        select_devices(["sdq"], tmp_path)
    assert refused.value.remedy.startswith("name a path, a partition, or one of sda, ")
    assert refused.value.remedy.endswith(" and 35 others")


def test_a_place_without_a_device_says_why():
    with pytest.raises(TargetError) as refused:
        select_devices(["/proc"])
    assert "no block device below" in refused.value.found


@pytest.mark.root
def test_a_node_a_link_to_it_and_its_name_are_the_same(loop, tmp_path):
    link = tmp_path / "by-id"
    link.symlink_to(f"/dev/{loop}")
    assert select_devices([loop, f"/dev/{loop}", str(link)]) == (loop,)


@pytest.mark.root
def test_a_directory_and_a_file_are_on_the_device_below(loop, tmp_path):
    where = tmp_path / "mnt"
    where.mkdir()
    for command in (f"mkfs.ext4 -q /dev/{loop}", f"mount /dev/{loop} {where}"):
        assert os.system(command) == 0
    try:
        (where / "file").write_text("x")
        assert select_devices([str(where)]) == select_devices([str(where / "file")]) == (loop,)
    finally:
        assert os.system(f"umount {where}") == 0
    assert Path(f"/dev/{loop}").exists()
