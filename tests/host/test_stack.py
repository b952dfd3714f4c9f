import os
import subprocess
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.host.device_kinds import DeviceKind, detect_kind
from iostudy.host.devices import BlockDevice, read_device
from tests.fixtures_loop import loop_disk
from tests.host.sysfs import (
    ONLY_NONE,
    SINGLE_QUEUE,
    add_disk,
    add_partition,
    link,
    stack_on,
    write,
)


def named(devices: tuple[BlockDevice, ...]) -> list[str]:
    return [device.name for device in devices]


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """LVM (dm-0) striped over a partition of sda and over md0, which mirrors sdb and sdc."""
    for index, name in enumerate(["sda", "sdb", "sdc"]):
        add_disk(tmp_path, name, f"8:{index * 16}", scheduler=SINGLE_QUEUE)
    add_partition(tmp_path, "sda", "sda2", "8:2")
    add_disk(tmp_path, "md0", "9:0", scheduler=ONLY_NONE)
    add_disk(tmp_path, "dm-0", "253:0", scheduler=None)
    stack_on(tmp_path, "md0", "sdb", "sdc")
    stack_on(tmp_path, "dm-0", "sda2", "md0")
    return tmp_path


def test_a_partition_lies_on_its_disk(host: Path) -> None:
    assert named(stack.top_devices("sda2", host)) == ["sda"]
    assert named(stack.scheduling_devices("sda2", host)) == ["sda"]


def test_disks_of_a_volume_schedule_if_the_volume_does_not(host: Path) -> None:
    assert named(stack.top_devices("dm-0", host)) == ["dm-0"]
    assert named(stack.scheduling_devices("dm-0", host)) == ["sdb", "sdc", "sda"]
    assert named(stack.whole_stack("dm-0", host)) == ["dm-0", "md0", "sdb", "sdc", "sda2", "sda"]


def test_scheduling_volume_hides_its_disks(host: Path) -> None:
    add_disk(host, "dm-1", "253:1", scheduler="[mq-deadline] none\n")
    stack_on(host, "dm-1", "sdb", "sdc")
    assert named(stack.scheduling_devices("dm-1", host)) == ["dm-1"]


def test_nothing_schedules(tmp_path: Path) -> None:
    add_disk(tmp_path, "nvme0n1", "259:0", scheduler="[none]\n")
    with pytest.raises(TargetError, match="offers only none"):
        stack.scheduling_devices("nvme0n1", tmp_path)


def test_nvme_multipath_disk_schedules_in_its_paths(tmp_path: Path) -> None:
    """As Linux 6.1 shows one: the disk has no scheduler, its paths no node, and no slaves."""
    write(tmp_path / "proc/diskstats", "   8  0 sda 1 2\n 259       0 nvme0c0n1 48 0 2088\n")
    add_disk(tmp_path, "nvme0n1", "259:1", scheduler=ONLY_NONE)
    add_disk(tmp_path, "nvme0n11", "259:3", scheduler=ONLY_NONE)
    for name in ("nvme0c0n1", "nvme0c1n11", "nvme1c0n1"):
        folder = add_disk(tmp_path, name, "", scheduler=SINGLE_QUEUE, hidden="1\n")
        (folder / "dev").unlink()
    assert named(stack.top_devices("nvme0n1", tmp_path)) == ["nvme0n1"]
    (path,) = stack.scheduling_devices("nvme0n1", tmp_path)
    assert (path.name, path.number, path.hidden) == ("nvme0c0n1", "259:0", True)
    assert path.path == Path("/dev/nvme0n1")
    disk = read_device("nvme0n1", tmp_path)
    assert detect_kind(disk, tmp_path) is DeviceKind.MULTIPATH
    add_partition(tmp_path, "nvme0n1", "nvme0n1p1", "259:9")
    for each in (disk, read_device("nvme0n1p1", tmp_path)):
        write(tmp_path / "sys/block/nvme0n1/queue/iostats", "0\n")
        assert stack.devices_with_counters(each, tmp_path) == (path,)
        write(tmp_path / "sys/block/nvme0n1/queue/iostats", "1\n")
        assert stack.devices_with_counters(each, tmp_path) == (each,)
    assert detect_kind(path, tmp_path) is DeviceKind.NVME


def test_volume_counts_io_despite_its_iostats_attribute(host: Path) -> None:
    """That of device-mapper is 0 on Linux 6.1, where it does count."""
    write(host / "sys/block/dm-0/queue/iostats", "0\n")
    assert named(stack.devices_with_counters(read_device("dm-0", host), host)) == ["dm-0"]


def test_btrfs_on_several_disks(host: Path) -> None:
    for name in ("sdb", "sdc"):
        link(host / "sys/fs/btrfs/8d3c/devices" / name, host / "sys/class/block" / name)
    (host / "sys/fs/btrfs/features").mkdir()
    assert named(stack.btrfs_members(read_device("sdc", host), host)) == ["sdb", "sdc"]
    assert named(stack.btrfs_members(read_device("sda", host), host)) == ["sda"]


@pytest.mark.parametrize("place", ["/no/such/place", "sdz9"])
def test_missing_place_is_an_error(place: str) -> None:
    with pytest.raises(TargetError, match="No such file"):
        stack.find_devices(place)


def test_a_file_system_without_a_device() -> None:
    with pytest.raises(TargetError, match="no block device below it") as caught:
        stack.find_devices("/proc")
    assert "give a directory on a disk" in caught.value.remedy


def test_target_in_memory_has_its_own_remedy() -> None:
    if not Path("/dev/shm").is_mount():
        pytest.skip("no tmpfs on /dev/shm")
    with pytest.raises(TargetError, match="it lives in memory"):
        stack.top_devices("/dev/shm")


@pytest.mark.root
def test_loop_device_lies_on_the_device_of_its_file() -> None:
    with loop_disk() as name:
        image = read_device(name).backing_file
        assert image is not None
        if not os.major(image.stat().st_dev):
            pytest.skip("temporary files lie on no disk")
        assert stack.whole_stack(name)[1:] == stack.whole_stack(image)


@pytest.mark.root
def test_a_loop_device_by_name_node_link_and_mount(tmp_path: Path) -> None:
    with loop_disk() as name:
        (tmp_path / "by-id").symlink_to(f"/dev/{name}")
        for place in (name, f"/dev/{name}", tmp_path / "by-id"):
            assert named(stack.top_devices(place)) == [name]
            assert named(stack.scheduling_devices(place)) == [name]
        point = tmp_path / "mount"
        point.mkdir()
        subprocess.run(["mkfs.ext4", "-q", f"/dev/{name}"], check=True)
        subprocess.run(["mount", f"/dev/{name}", point], check=True)
        try:
            assert named(stack.scheduling_devices(point)) == [name]
        finally:
            subprocess.run(["umount", point], check=True)
