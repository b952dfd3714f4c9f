import os
import stat
import subprocess
from pathlib import Path

import pytest

from iostudy.host.devices import read_device
from iostudy.host.stack import find_uses, is_claimed
from tests.fixtures_loop import loop_disk
from tests.host.sysfs import SINGLE_QUEUE, add_disk, add_partition, stack_on, write


def test_every_use_is_named(tmp_path: Path) -> None:
    add_disk(tmp_path, "sda", "8:0", scheduler=SINGLE_QUEUE)
    for number, name in enumerate(["sda1", "sda2", "sda3"], 1):
        add_partition(tmp_path, "sda", name, f"8:{number}")
    add_disk(tmp_path, "dm-0", "253:0", scheduler=None)
    stack_on(tmp_path, "dm-0", "sda3")
    write(tmp_path / "proc/self/mountinfo", "1 0 8:1 / /boot rw - ext4 /dev/sda1 rw\n")
    write(tmp_path / "proc/swaps", "Filename\tType\n/dev/sda2  partition 1 0 -2\n")
    assert find_uses(read_device("sda", tmp_path), tmp_path) == (
        "sda1 is mounted on /boot",
        "sda2 is swap space",
        "sda3 is a part of dm-0",
    )


def test_anonymous_device_number_is_resolved_by_the_mount_source(tmp_path: Path) -> None:
    add_disk(tmp_path, "sda", "8:0", scheduler=SINGLE_QUEUE)
    write(tmp_path / "proc/self/mountinfo", "1 0 0:42 / /data rw - btrfs /dev/sda rw\n")
    assert find_uses(read_device("sda", tmp_path), tmp_path) == ("sda is mounted on /data",)


@pytest.mark.root
def test_holders_in_sysfs_are_reported() -> None:
    with loop_disk() as name:
        node = Path("/dev") / name
        assert not is_claimed(node)
        held = os.open(node, os.O_RDONLY | os.O_EXCL)
        try:
            assert is_claimed(node)
        finally:
            os.close(held)


@pytest.mark.root
def test_mounted_device_is_in_use(tmp_path: Path) -> None:
    with loop_disk() as name:
        subprocess.run(["mkfs.ext4", "-q", f"/dev/{name}"], check=True)
        subprocess.run(["mount", f"/dev/{name}", tmp_path], check=True)
        try:
            assert is_claimed(Path("/dev") / name)
            assert find_uses(read_device(name)) == (f"{name} is mounted on {tmp_path}",)
        finally:
            subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.root
def test_a_device_behind_a_loop_device_is_in_use(tmp_path: Path) -> None:
    with loop_disk() as name:
        alias = tmp_path / "alias"
        os.mknod(alias, stat.S_IFBLK | 0o600, (Path("/dev") / name).stat().st_rdev)
        command = ["losetup", "--find", "--show", "--offset", "1MiB", str(alias)]
        upper = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            assert find_uses(read_device(name)) == (
                f"{name} is the backing file of {Path(upper).name}",
            )
        finally:
            subprocess.run(["losetup", "--detach", upper], check=True)
