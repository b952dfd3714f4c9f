"""Devices with any signature are refused as disks of a volume, and are not changed."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.settings.scratch import steps
from tests.fixtures_loop import loop_disk

pytestmark = pytest.mark.root

SECTOR = 512


def write(node: Path, offset: int, content: bytes) -> None:
    with node.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def make(*command: str) -> Callable[[Path], None]:
    return lambda node: subprocess.run([*command, str(node)], check=True, capture_output=True)


def make_partition(node: Path) -> None:
    """A DOS partition table with one partition of type Linux."""
    entry = struct.pack("<8B2I", 0, 0, 0, 0, 0x83, 0, 0, 0, 2048, 4096)
    write(node, 446, entry + bytes(48) + b"\x55\xaa")


def make_array_member(node: Path) -> None:
    """The superblock of md, version 1.2, after 4 KiB; its place in sectors is in it."""
    superblock = bytearray(struct.pack("<2I", 0xA92B4EFC, 1).ljust(256, b"\0"))
    struct.pack_into("<Q", superblock, 144, 8)
    write(node, 4096, bytes(superblock))


def make_physical_volume(node: Path) -> None:
    """LVM's label in the second sector, with its checksum."""
    checked = struct.pack("<I8s", 32, b"LVM2 001") + b"0123456789abcdef0123456789abcdef"
    checked = checked.ljust(SECTOR - 20, b"\0")
    write(node, SECTOR, struct.pack("<8sQI", b"LABELONE", 1, _lvm_crc(checked)) + checked)


def _lvm_crc(content: bytes) -> int:
    """CRC-32 with LVM's initial value and without the final inversion (lib/misc/crc.c)."""
    crc = 0xF597A6CF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
    return crc


@pytest.mark.parametrize(
    ("prepare", "name"),
    [
        (make("mkfs.ext4", "-q"), "ext4"),
        (make("mkswap"), "swap"),
        (make_partition, "dos"),
        (make_array_member, "linux_raid_member"),
        (make_physical_volume, "LVM2_member"),
    ],
)
def test_a_signature(prepare: Callable[[Path], None], name: str) -> None:
    with loop_disk() as loop:
        node = Path("/dev") / loop
        steps.require_no_signature(node)
        prepare(node)
        before = node.read_bytes()
        with pytest.raises(TargetError) as error:
            steps.require_no_signature(node)
        assert name in str(error.value)
        assert node.read_bytes() == before
