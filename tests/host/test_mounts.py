import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host import mounts
from iostudy.host.mounts import Mount, parse_mount_id, parse_mountinfo, parse_swaps

# A systemd host with LVM and NFS (5.14), a container (6.1), btrfs on openSUSE (6.4), RHEL 7 (3.10).
SAMPLES = {
    b"22 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/rhel-root rw,attr2,inode64\n": Mount(
        22, 1, "253:0", "/", Path("/"), ("rw", "relatime"), "xfs", "/dev/mapper/rhel-root",
        ("rw", "attr2", "inode64"),
    ),
    b"97 60 0:52 / /home rw,relatime shared:52 - nfs4 nas:/home rw,vers=4.2,addr=10.0.0.2\n": Mount(
        97, 60, "0:52", "/", Path("/home"), ("rw", "relatime"), "nfs4", "nas:/home",
        ("rw", "vers=4.2", "addr=10.0.0.2"),
    ),
    b"1048 885 0:61 / / rw master:301 - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=/u\n": Mount(
        1048, 885, "0:61", "/", Path("/"), ("rw",), "overlay", "overlay",
        ("rw", "lowerdir=/l/A:/l/B", "upperdir=/u"),
    ),
    b"31 30 0:27 /@/var /var rw shared:8 master:1 propagate_from:2 - btrfs /dev/sda2 rw\n": Mount(
        31, 30, "0:27", "/@/var", Path("/var"), ("rw",), "btrfs", "/dev/sda2", ("rw",)
    ),
    b"40 22 8:17 / /a\\040blank\\134and\\012more rw - ext4 /dev/sdb1 rw\n": Mount(
        40, 22, "8:17", "/", Path("/a blank\\and\nmore"), ("rw",), "ext4", "/dev/sdb1", ("rw",)
    ),
    b"17 39 0:16 / /sys rw,nosuid - sysfs sysfs rw,seclabel\n": Mount(
        17, 39, "0:16", "/", Path("/sys"), ("rw", "nosuid"), "sysfs", "sysfs", ("rw", "seclabel")
    ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "mount"), SAMPLES.items())
def test_lines_of_real_kernels(line: bytes, mount: Mount) -> None:
    assert parse_mountinfo(line) == (mount,)


names = st.binary(min_size=1).filter(lambda b: b"\0" not in b)


def escape(name: bytes) -> bytes:
    return b"".join(rb"\%03o" % c if c in b" \t\n\\#" else bytes([c]) for c in name)


@given(point=names, source=names, optional=st.lists(st.sampled_from([b"shared:1", b"master:7"])))
def test_escaped_names_round_trip(point: bytes, source: bytes, optional: list[bytes]) -> None:
    fields = [b"5", b"1", b"8:1", b"/", b"/" + escape(point), b"rw", *optional]
    line = b" ".join([*fields, b"-", b"ext4", escape(source), b"rw"])
    (mount,) = parse_mountinfo(line + b"\n")
    assert os.fsencode(mount.point) == os.fsencode(Path(os.fsdecode(b"/" + point)))
    assert os.fsencode(mount.source) == source


@pytest.mark.parametrize("line", [b"1 2 3", b"1 2 8:1 / / rw shared:1 ext4 /dev/sda rw", b"x"])
def test_other_lines_are_named(line: bytes) -> None:
    with pytest.raises(ValueError, match="not a line of mountinfo"):
        parse_mountinfo(line)


def test_swaps() -> None:
    text = (
        b"Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n"
        b"/dev/dm-1                               partition\t4194300\t0\t-2\n"
        rb"/swap\040file                           file\t\t1048572\t0\t-3" + b"\n"
    )
    assert parse_swaps(text) == (Path("/dev/dm-1"), Path("/swap file"))
    assert parse_swaps(b"Filename\tType\n") == ()


def test_mount_id() -> None:
    assert parse_mount_id("pos:\t0\nflags:\t012000000\nmnt_id:\t29\nino:\t2\n") == 29


def test_the_mount_that_holds_a_path() -> None:
    assert mounts.find_mount(Path("/proc/self")).filesystem == "proc"
    assert mounts.find_mount(Path("/")).point == Path("/")
    assert [mount.filesystem for mount in mounts.find_mounts_at(Path("/proc"))][-1] == "proc"
    with pytest.raises(FileNotFoundError):
        mounts.find_mount(Path("/no/such/path"))


def test_the_mounts_of_a_number() -> None:
    for number in {mount.device for mount in mounts.read_mounts()}:
        same = [mount for mount in mounts.read_mounts() if mount.device == number]
        assert list(mounts.find_mounts_of_device(number)) == same
    assert mounts.find_mounts_of_device("0:0") == ()
