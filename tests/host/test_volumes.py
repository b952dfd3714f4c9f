import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import TargetError
from iostudy.host import stack, volumes
from iostudy.host.devices import read_device
from iostudy.host.volumes import LogicalVolume, parse_lvm_name
from tests.host.sysfs import SINGLE_QUEUE, add_disk, add_partition, link, stack_on, write

UUID = "LVM-R9xUcvZ1dH1QkB2fX8mGvJ5oPqLwTy7AoN3eKbR0sVhC6iWzYuD4gEjFtMaIlXpS\n"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """vg-0 on sdb1 and md0 (of sdc, sdd): home mirrored through inner volumes, and an mpath."""
    for index, name in enumerate(["sda", "sdb", "sdc", "sdd"]):
        add_disk(tmp_path, name, f"8:{index * 16}", scheduler=SINGLE_QUEUE)
    add_partition(tmp_path, "sdb", "sdb1", "8:17")
    add_disk(tmp_path, "md0", "9:0", scheduler=None, md__level="raid1\n")
    stack_on(tmp_path, "md0", "sdc", "sdd")
    _add_volume(tmp_path, "dm-0", "vg--0-home_rimage_0", "sdb1")
    _add_volume(tmp_path, "dm-1", "vg--0-home_rimage_1", "md0")
    _add_volume(tmp_path, "dm-2", "vg--0-home", "dm-0", "dm-1")
    add_disk(
        tmp_path, "dm-3", "253:3", scheduler=None,
        dm__name="mpatha\n", dm__uuid="mpath-36001405\n",
    )  # fmt: skip
    write(tmp_path / "run/udev/data/b9:0", "S:md/data\nI:123\nE:MD_DEVNAME=data\nE:MD_LEVEL=x\n")
    return tmp_path


def _add_volume(root: Path, name: str, mapper: str, *lowers: str) -> None:
    number = f"253:{name[3:]}"
    add_disk(root, name, number, scheduler=None, dm__name=f"{mapper}\n", dm__uuid=UUID)
    stack_on(root, name, *lowers)


@pytest.mark.parametrize(
    ("name", "volume"),
    [
        ("vg0-home", LogicalVolume("vg0", "home")),
        ("vg--with--hyphens-a--b", LogicalVolume("vg-with-hyphens", "a-b")),
        ("rhel_node1-root", LogicalVolume("rhel_node1", "root")),
        ("vg0-home-real", LogicalVolume("vg0", "home", "real")),
        ("a---b", LogicalVolume("a-", "b")),
        ("mpatha", None),
        ("a-b-c-d", None),
        ("-x", None),
    ],
)
def test_names_of_lvm(name: str, volume: LogicalVolume | None) -> None:
    assert parse_lvm_name(name) == volume


# lvm(8): letters, digits, + _ . -, and a hyphen never first.
parts = st.from_regex(r"[a-zA-Z0-9+_.][a-zA-Z0-9+_.-]{0,20}", fullmatch=True)


@given(group=parts, name=parts)
def test_lvm_names_round_trip(group: str, name: str) -> None:
    mapper = "-".join(part.replace("-", "--") for part in (group, name))
    assert parse_lvm_name(mapper) == LogicalVolume(group, name)


@given(st.text())
def test_other_names_are_no_lvm_volume_or_parsed(name: str) -> None:
    parse_lvm_name(name)


def test_other_names_of_devices_are_resolved(host: Path) -> None:
    names = {d: volumes.find_aliases(read_device(d, host), host) for d in ("dm-2", "dm-3", "md0")}
    assert names == {
        "dm-2": ("vg-0/home", "vg--0-home"),
        "dm-3": ("mpatha",),
        "md0": ("md/data",),
    }


@pytest.mark.parametrize(
    "name",
    ["dm-2", "vg-0/home", "vg--0-home", "/dev/vg-0/home", "/dev/mapper/vg--0-home", "/dev/dm-2"],
)
def test_a_volume_by_any_of_its_names(host: Path, name: str) -> None:
    assert [device.name for device in stack.find_devices(name, host)] == ["dm-2"]


def test_an_array_by_the_name_in_its_metadata(host: Path) -> None:
    assert [device.name for device in stack.find_devices("/dev/md/data", host)] == ["md0"]


def test_a_path_that_names_no_volume_is_a_path(host: Path, tmp_path: Path) -> None:
    assert volumes.find_device_by_name(os.fspath(tmp_path), host) is None
    assert volumes.find_device_by_name("", host) is None
    assert volumes.find_device_by_name("a/" * 200, host) is None


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("vg-0", ["sdb1", "md0"]),
        ("md0", ["sdc", "sdd"]),
        ("/dev/md/data", ["sdc", "sdd"]),
        ("vg-0/home", ["dm-0", "dm-1"]),
    ],
)
def test_members(host: Path, name: str, members: list[str]) -> None:
    assert [device.name for device in stack.find_members(name, host)] == members


def test_the_members_of_a_btrfs(host: Path) -> None:
    link(host / "sys/fs/btrfs/8d3c/devices/sda", host / "sys/class/block/sda")
    assert [device.name for device in stack.find_members("sda", host)] == ["sda"]


@pytest.mark.parametrize("name", ["sda", "no-such-group"])
def test_device_without_members_is_refused(host: Path, name: str) -> None:
    with pytest.raises(TargetError, match=r"consists of nothing else|No such file"):
        stack.find_members(name, host)
