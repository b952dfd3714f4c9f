import os
from collections.abc import Callable
from pathlib import Path

import pytest

from iostudy.host.device_kinds import DeviceKind
from iostudy.host.mounts import parse_mountinfo
from iostudy.host.raid_arrays import RaidArray, SyncAction
from iostudy.host.topology import MountEntry, Topology, find_mount_entry, read_places, read_topology
from tests.host import recorded
from tests.host.sysfs import add_disk, stack_on, write


def names(topology: Topology) -> list[str]:
    return [node.name for node in topology.nodes]


def test_lvm_on_md_and_a_loop_device_in_its_file_system(tmp_path: Path) -> None:
    stack = read_topology(recorded.lvm_on_md(tmp_path))
    assert [root.name for root in stack.roots] == ["sda", "sdb", "sdc"]
    home, array = stack.by_name["dm-2"], stack.by_name["md127"]
    assert (home.kind, home.names) == (DeviceKind.LVM, ("vg0/home", "vg0-home"))
    assert (home.below, home.filesystem) == (("dm-0", "dm-1"), "ext4")
    assert array.names == ("md/data",)
    assert array.filesystem == "LVM2_member"
    assert array.array == RaidArray("raid1", 2, 1, SyncAction.RECOVER, 0.25, None, (), ())
    (place,) = stack.places_on("dm-2")
    assert [loop.name for loop in stack.loops_in(place)] == ["loop0"]
    assert stack.by_name["loop0"].below == ("dm-2",)


def test_devices_below_and_above_a_device(tmp_path: Path) -> None:
    stack = read_topology(recorded.lvm_on_md(tmp_path))
    assert names(stack.select_related(["sda"])) == ["dm-0", "dm-2", "loop0", "md127", "sda"]
    around = stack.select_related(["dm-1"])
    assert names(around) == ["dm-1", "dm-2", "loop0", "sdc", "sdc1"]
    assert around.by_name["dm-2"].below == ("dm-1",)
    assert [str(place.mount.point) for place in around.places] == ["/", "/home", "/mnt"]
    assert stack.select_related(["no-such"]) == Topology((), ())


def test_a_loop_device_alone_is_a_root_where_its_mount_is_not_shown(tmp_path: Path) -> None:
    add_disk(tmp_path, "loop3", "7:3", scheduler=None, loop__backing_file="/tmp/image\n")
    write(tmp_path / "proc/self/mountinfo", "9 1 0:5 / / rw - rootfs rootfs rw\n")
    stack = read_topology(tmp_path)
    assert [place.filesystem for place in stack.deviceless_mounts] == ["rootfs"]
    assert stack.roots == ()
    assert [root.name for root in stack.select_related(["loop3"]).roots] == ["loop3"]


def test_btrfs_on_several_disks_and_an_overlay_apart(tmp_path: Path) -> None:
    stack = read_topology(recorded.btrfs_raid(tmp_path))
    (data,) = (place for place in stack.places if place.filesystem == "btrfs")
    assert data.devices == ("sdb", "sdc")
    assert [place.filesystem for place in stack.deviceless_mounts] == ["overlay"]
    assert stack.by_name["sdc"].filesystem == "btrfs"
    assert [place.devices for place in stack.select_related(["sdc"]).places] == [("sdc",)]


def test_devices_added_during_the_read_are_ignored(tmp_path: Path) -> None:
    root = recorded.btrfs_raid(tmp_path)
    write(root / "sys/block/sdb/size", "0\n")
    stack = read_topology(root)
    assert names(stack) == ["sdc"]
    assert [place.devices for place in stack.places] == [(), ("sdc",)]


@pytest.mark.parametrize(
    ("host", "kinds"),
    [
        (recorded.multipath, {"sda": DeviceKind.ROTATIONAL, "dm-3": DeviceKind.MULTIPATH}),
        (recorded.nvme_and_zoned, {"nvme0n1": DeviceKind.NVME, "nvme0n1p2": DeviceKind.PARTITION}),
        (
            recorded.lvm_on_md,
            {"md127": DeviceKind.ARRAY, "dm-0": DeviceKind.LVM, "loop0": DeviceKind.LOOP},
        ),
    ],
)
def test_kinds(tmp_path: Path, host: Callable[[Path], Path], kinds: dict[str, DeviceKind]) -> None:
    stack = read_topology(host(tmp_path))
    assert {name: stack.by_name[name].kind for name in kinds} == kinds


@pytest.mark.parametrize(
    ("name", "files", "kind"),
    [
        ("vda", {}, DeviceKind.VIRTUAL),
        ("xvdf", {}, DeviceKind.VIRTUAL),
        (
            "sda",
            {"device__vendor": "Msft    \n", "device__model": "Virtual Disk\n"},
            DeviceKind.VIRTUAL,
        ),
        ("sda", {"device__model": "QEMU HARDDISK\n"}, DeviceKind.VIRTUAL),
        ("nvme0n1", {"device__model": "Amazon Elastic Block Store\n"}, DeviceKind.VIRTUAL),
        ("zram0", {"comp_algorithm": "[lzo]\n"}, DeviceKind.MEMORY),
        ("sr0", {"device__type": "5\n"}, DeviceKind.OPTICAL),
        ("nbd3", {"pid": "711\n"}, DeviceKind.NETWORK),
        ("rbd0", {}, DeviceKind.NETWORK),
        ("drbd0", {}, DeviceKind.SOFTWARE),
        ("zd0", {}, DeviceKind.SOFTWARE),
        ("nullb0", {}, DeviceKind.SOFTWARE),
        ("dasda", {}, DeviceKind.ROTATIONAL),
        ("dm-0", {"dm__name": "luks\n", "dm__uuid": "CRYPT-LUKS2-1f\n"}, DeviceKind.CRYPT),
        ("dm-0", {"dm__name": "cache\n"}, DeviceKind.MAPPED),
        ("sda", {"queue__rotational": "0\n"}, DeviceKind.SSD),
    ],
)
def test_kinds_of_devices_alone(
    tmp_path: Path, name: str, files: dict[str, str], kind: DeviceKind
) -> None:
    folder = add_disk(tmp_path, name, "1:0", scheduler=None, **files)
    if "queue__rotational" in files:
        write(folder / "queue/rotational", files["queue__rotational"])
    write(tmp_path / "proc/self/mountinfo", "")
    assert read_topology(tmp_path).by_name[name].kind is kind


def places(*lines: str) -> tuple[MountEntry, ...]:
    text = "".join(f"{line}\n" for line in lines)
    return tuple(MountEntry(mount, ()) for mount in parse_mountinfo(text.encode()))


def test_a_path_is_followed_through_the_mounts_it_enters() -> None:
    mounted = places(
        "20 1 8:1 / / rw - ext4 a rw",
        "21 20 8:2 / /data/deep rw - ext4 hidden rw",
        "22 20 8:3 / /data rw - ext4 over rw",
        "23 22 8:4 / /data rw - ext4 twice rw",
        "24 20 8:5 / /database rw - ext4 other rw",
    )
    assert _source(mounted, "/data/deep/file") == "twice"
    assert _source(mounted, "/database") == "other"
    assert _source(mounted, "/etc") == "a"
    assert find_mount_entry(Path("/x"), ()) is None


def _source(mounted: tuple[MountEntry, ...], path: str) -> str:
    place = find_mount_entry(Path(path), mounted)
    assert place is not None
    return place.mount.source


def test_paths_of_this_host_are_on_the_mounts_the_kernel_reports() -> None:
    for path in (Path("/"), Path("/proc/self/status"), Path(os.__file__).resolve()):
        stack_places = read_places()
        place = find_mount_entry(path, stack_places)
        assert place is not None
        if path.exists() and not str(path).startswith("/proc"):
            status = path.stat().st_dev
            number = f"{os.major(status)}:{os.minor(status)}"
            assert place.mount.device == number


@pytest.mark.parametrize("name", ["bcache0", "drbd0"])
def test_a_device_on_others_is_a_volume_and_no_disk(tmp_path: Path, name: str) -> None:
    add_disk(tmp_path, "sda", "8:0", scheduler=None)
    add_disk(tmp_path, name, "252:0", scheduler=None)
    stack_on(tmp_path, name, "sda")
    write(tmp_path / "proc/self/mountinfo", "")
    kinds = {node.name: node.kind for node in read_topology(tmp_path).nodes}
    assert kinds == {"sda": DeviceKind.ROTATIONAL, name: DeviceKind.VOLUME}
    assert not DeviceKind.VOLUME.is_disk
