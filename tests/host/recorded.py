"""Recorded sysfs and proc trees of hosts with several kernels."""

from __future__ import annotations

import os
from pathlib import Path

from tests.host.sysfs import add_disk, add_partition, link, stack_on, write

SAMPLES = Path(__file__).parent / "samples"
LVM_UUID = "LVM-R9xUcvZ1dH1QkB2fX8mGvJ5oPqLwTy7AoN3eKbR0sVhC6iWzYuD4gEjFtMaIlXpS\n"
TIB_SECTORS = f"{1 << 31}\n"
LIMITS = {
    "queue__max_sectors_kb": "1280\n",
    "queue__max_hw_sectors_kb": "32767\n",
    "queue__read_ahead_kb": "128\n",
    "queue__nr_requests": "64\n",
    "queue__physical_block_size": "4096\n",
}


def old_hadoop_node(root: Path) -> Path:
    """CentOS 6 (2.6.32): LVM for the system, ext3 without barriers, NFS by UDP, a data node."""
    _host(root, "2.6.32-642.el6.x86_64", "mountinfo-2.6.32")
    cfq = "noop anticipatory deadline [cfq] \n"
    add_disk(root, "sda", "8:0", scheduler=cfq, size=TIB_SECTORS, **LIMITS)
    add_partition(root, "sda", "sda1", "8:1")
    add_partition(root, "sda", "sda2", "8:2")
    add_disk(
        root, "sdb", "8:16", scheduler="[noop] deadline cfq \n", size=TIB_SECTORS,
        device__model="ST3250310NS     \n", device__queue_depth="1\n", device__vendor="ATA     \n",
        queue__write_cache="write back\n", **LIMITS,
    )  # fmt: skip
    part = add_partition(root, "sdb", "sdb1", "8:17")
    write(part / "start", "63\n")
    write(part / "alignment_offset", "3584\n")
    _volume(root, "dm-0", "vg_node1-lv_root", "sda2")
    write(root / "proc/sys/fs/file-max", "48000\n")
    process(root, 4711, "java\0-Dproc_datanode\0-Xmx512m\0" + DATA_NODE + "\0", "limits-2.6.32")
    return root


DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"


def lvm_on_md(root: Path) -> Path:
    """A 6.8 host: vg0/home, mirrored by LVM, on md127 (rebuilding, one lost) and a partition."""
    _host(root, "6.8.0-45-generic", None)
    for index, name in enumerate(["sda", "sdb", "sdc"]):
        add_disk(
            root, name, f"8:{index * 16}", scheduler="[none] mq-deadline \n", size=TIB_SECTORS,
            device__model="HGST HUS726T4\n", device__queue_depth="128\n", **LIMITS,
        )  # fmt: skip
    add_partition(root, "sdc", "sdc1", "8:33")
    add_disk(
        root, "md127", "9:127", scheduler=None, size=TIB_SECTORS,
        md__level="raid1\n", md__raid_disks="2\n", md__degraded="1\n",
        md__sync_action="recover\n", md__sync_completed="500 / 2000\n",
    )  # fmt: skip
    stack_on(root, "md127", "sda", "sdb")
    write(root / "run/udev/data/b9:127", "E:ID_FS_TYPE=LVM2_member\nE:MD_DEVNAME=data\n")
    _volume(root, "dm-0", "vg0-home_rimage_0", "md127")
    _volume(root, "dm-1", "vg0-home_rimage_1", "sdc1")
    _volume(root, "dm-2", "vg0-home", "dm-0", "dm-1")
    add_disk(
        root, "loop0", "7:0", scheduler="[none] \n", size="2048\n",
        loop__backing_file="/home/images/disk\n",
    )  # fmt: skip
    _mounts(
        root,
        "29 1 8:33 / / rw,noatime - ext4 /dev/sdc1 rw",
        "30 29 253:2 / /home rw,noatime - ext4 /dev/mapper/vg0-home rw",
        "31 30 7:0 / /mnt rw,relatime - ext4 /dev/loop0 rw",
    )
    return root


def multipath(root: Path) -> Path:
    """A 4.18 host: sda and sdb are paths to mpatha, which schedules."""
    _host(root, "4.18.0-553.el8.x86_64", "mountinfo-4.18")
    for index, name in enumerate(["sda", "sdb"]):
        scheduler = "[mq-deadline] kyber bfq none\n"
        add_disk(root, name, f"8:{index * 16}", scheduler=scheduler, size=TIB_SECTORS, **LIMITS)
    add_disk(
        root, "dm-3", "253:3", scheduler="[mq-deadline] kyber bfq none\n", size=TIB_SECTORS,
        dm__name="mpatha\n", dm__uuid="mpath-3600140\n", **LIMITS,
    )  # fmt: skip
    stack_on(root, "dm-3", "sda", "sdb")
    return root


def btrfs_raid(root: Path) -> Path:
    """A 5.14 host: a btrfs of sdb and sdc in a container's root."""
    _host(root, "5.14.0-427.el9.x86_64", "mountinfo-5.14")
    for index, name in enumerate(["sdb", "sdc"]):
        add_disk(root, name, f"8:{16 + index * 16}", scheduler="[mq-deadline] none\n")
        link(root / "sys/fs/btrfs/8d3c/devices" / name, root / "sys/class/block" / name)
    return root


def nvme_and_zoned(root: Path, kernel: str = "5.14.0-427.el9.x86_64") -> Path:
    """An NVMe device with bfq, and a host-managed SMR disk without a scheduler."""
    _host(root, kernel, "mountinfo-6.8")
    nvme = add_disk(
        root, "nvme0n1", "259:0", scheduler="none mq-deadline [bfq]\n", size=TIB_SECTORS,
        model="INTEL SSDPE2KX010T8\n", queue__rotational="0\n",
        queue__write_cache="write back\n", queue__optimal_io_size="131072\n",
        queue__physical_block_size="4096\n", queue__fua="1\n",
    )  # fmt: skip
    write(nvme / "queue/rotational", "0\n")
    part = add_partition(root, "nvme0n1", "nvme0n1p2", "259:2")
    write(part / "start", "2056\n")
    write(part / "alignment_offset", "0\n")
    zoned = {"queue__zoned": "host-managed\n"}
    add_disk(root, "sda", "8:0", scheduler="[none] mq-deadline\n", size=TIB_SECTORS, **zoned)
    return root


def process(root: Path, pid: int, cmdline: str, limits: str) -> None:
    """A running process."""
    write(root / f"proc/{pid}/cmdline", cmdline)
    write(root / f"proc/{pid}/limits", (SAMPLES / limits).read_text())


def room(used: float = 0.5, inodes: float = 0.5) -> os.statvfs_result:
    """The statvfs result of a file system of 1,000,000 blocks of 4 KiB, so much of it in use."""
    blocks = 1_000_000
    free, free_inodes = round(blocks * (1 - used)), round(blocks * (1 - inodes))
    return os.statvfs_result(
        (4096, 4096, blocks, free, free, blocks, free_inodes, free_inodes, 0, 255)
    )


def _host(root: Path, release: str, mountinfo: str | None) -> None:
    write(root / "proc/sys/kernel/osrelease", f"{release}\n")
    write(root / "proc/meminfo", "MemTotal:       16384 kB\n")
    write(root / "proc/self/limits", (SAMPLES / "limits-6.8").read_text())
    if mountinfo:
        write(root / "proc/self/mountinfo", (SAMPLES / mountinfo).read_text())


def _mounts(root: Path, *lines: str) -> None:
    write(root / "proc/self/mountinfo", "".join(f"{line}\n" for line in lines))


def _volume(root: Path, name: str, mapper: str, *lowers: str) -> None:
    number = f"253:{name.removeprefix('dm-')}"
    add_disk(
        root, name, number, scheduler=None, size=TIB_SECTORS,
        dm__name=f"{mapper}\n", dm__uuid=LVM_UUID, queue__read_ahead_kb="128\n",
    )  # fmt: skip
    stack_on(root, name, *lowers)
