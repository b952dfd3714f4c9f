"""Disks and volumes of the virtual machine."""

from __future__ import annotations

from pathlib import Path

from tests.vm.machine import Disk, Machine

MEMBER_BYTES = 64 << 20
"""So small that a resync takes seconds."""
SPINDLES = tuple(f"spindle-{number}" for number in range(4))
OF_ARRAY = tuple(f"array-{number}" for number in range(4))
MEMBERS = tuple(f"member-{number}" for number in range(4))
DISKS = (
    *map(Disk, (*SPINDLES, *OF_ARRAY)),
    *(Disk(serial, size_bytes=MEMBER_BYTES) for serial in MEMBERS),
)
MODULES = "dm-mod dm-raid dm-mirror raid1 raid10 raid456"


def by_id(serial: str) -> str:
    """The link that udev makes for a disk."""
    return f"/dev/disk/by-id/scsi-SQEMU_QEMU_HARDDISK_{serial}"


def kernel_name(machine: Machine, link: str) -> str:
    """``sda``, ``dm-2``: what a link of udev's leads to."""
    return Path(machine.run("readlink", "-f", link).stdout.strip()).name


def make_group(machine: Machine) -> None:
    """A volume group of four disks: home as RAID 10 and data striped, both mounted ext4."""
    disks = " ".join(map(by_id, SPINDLES))
    machine.shell(
        f"""
        vgcreate -y vg0 {disks}
        lvcreate -y --type raid10 --nosync --mirrors 1 --stripes 2 -L 128M -n home vg0
        lvcreate -y --type striped --stripes 4 -L 128M -n data vg0
        for name in home data; do
            mkfs.ext4 -q /dev/vg0/$name
            mkdir -p /$name
            mount /dev/vg0/$name /$name
        done
        """
    )


def make_tower(machine: Machine) -> None:
    """vg1/top: a logical volume on an md RAID 10 of four disks, whose chunks are of 64 KiB."""
    disks = " ".join(map(by_id, OF_ARRAY))
    machine.shell(
        f"""
        mdadm --create /dev/md/array --run --assume-clean --level 10 --raid-devices 4 \
            --chunk 64 {disks}
        udevadm settle
        vgcreate -y vg1 /dev/md/array
        lvcreate -y -L 128M -n top vg1
        udevadm settle
        """
    )
