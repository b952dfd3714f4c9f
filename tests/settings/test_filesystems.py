"""Tests of mkfs options and of file system properties, without a disk."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.settings import catalog
from iostudy.settings.definition import Cost, Reach
from iostudy.settings.definitions.filesystem import BLOCK_SIZE, DEFINITIONS, STRIPE_WIDTH
from iostudy.settings.scratch.filesystem import FILESYSTEMS, Filesystem
from iostudy.settings.scratch.new_filesystem import ExtSuperblock, find_contradiction

QUIET = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"


@pytest.mark.parametrize(
    ("filesystem", "command"),
    [
        (Filesystem("ext2"), f"mkfs.ext2 -q -F -E {QUIET}"),
        (Filesystem("ext3", reserved="0"), f"mkfs.ext3 -q -F -m 0 -E {QUIET}"),
        (Filesystem("ext4", journal="on"), f"mkfs.ext4 -q -F -E {QUIET}"),
        (
            Filesystem("ext4", block_size="1024", journal="off"),
            f"mkfs.ext4 -q -F -b 1024 -O ^has_journal -E {QUIET}",
        ),
        (
            Filesystem("ext4", stripe_width="64 4"),
            f"mkfs.ext4 -q -F -b 4096 -E {QUIET},stride=16,stripe_width=64",
        ),
        (
            Filesystem("ext4", stripe_width="64 4", block_size="1024"),
            f"mkfs.ext4 -q -F -b 1024 -E {QUIET},stride=64,stripe_width=256",
        ),
        (
            Filesystem("xfs", block_size="1024", stripe_width="64 4", options="noatime"),
            "mkfs.xfs -q -f -K -b size=1024 -d su=64k,sw=4",
        ),
        (Filesystem("btrfs", block_size="4096"), "mkfs.btrfs -q -f -K -s 4096"),
    ],
    ids=lambda value: value.describe() if isinstance(value, Filesystem) else "",
)
def test_the_command_that_makes_it(filesystem: Filesystem, command: str) -> None:
    assert filesystem.command() == tuple(command.split())


def test_every_type_is_made_and_every_setting_is_a_part_of_it() -> None:
    assert all(Filesystem(kind).command()[0] == f"mkfs.{kind}" for kind in FILESYSTEMS)
    every = {definition.name: "1" for definition in DEFINITIONS}
    assert Filesystem("ext4").with_settings(every).wanted() == every
    assert all(d.cost is Cost.FORMAT and d.reach is Reach.DISK for d in DEFINITIONS)


def test_omitted_options_are_those_of_the_target() -> None:
    settings = {"block.scheduler": "bfq", "filesystem.reserved": "0"}
    assert Filesystem("ext3").with_settings(settings) == Filesystem("ext3", reserved="0")
    both = {"filesystem.type": "xfs"}
    assert Filesystem("ext4").with_settings(both).describe() == "xfs"


def test_what_is_as_found_is_as_the_target_and_mkfs_have_it() -> None:
    settings = {"filesystem.type": "as-found", "filesystem.options": "as-found"}
    assert Filesystem("xfs").with_settings(settings) == Filesystem("xfs")
    assert Filesystem("ext4", journal="off", reserved="0").describe() == (
        "ext4 with journal off, reserved 0"
    )


@pytest.mark.parametrize(
    ("text", "size"), [("4KiB", "4096"), (" 512 ", "512"), ("64KiB", "65536"), ("01024", "1024")]
)
def test_a_block_size_has_one_form(text: str, size: str) -> None:
    assert BLOCK_SIZE.parse(text) == size


@pytest.mark.parametrize("text", ["4kB", "3000", "256", "128KiB", "0", "as-found", ""])
def test_no_block_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"no such size; allowed|not a size"):
        BLOCK_SIZE.parse(text)


def test_a_new_file_system_is_never_as_found() -> None:
    for definition in DEFINITIONS[:-1]:
        with pytest.raises(ValueError, match=r"allowed|write"):
            definition.parse("as-found")
    assert STRIPE_WIDTH.parse(" 064  4") == "64 4"


@pytest.mark.parametrize("name", [definition.name for definition in DEFINITIONS])
def test_file_system_settings_are_in_the_catalogue(name: str) -> None:
    assert catalog.get(name).name == name


@pytest.mark.parametrize(
    ("requested", "shown", "found"),
    [
        ("noatime", "rw,noatime", ""),
        ("data=writeback", "rw,data=ordered", "data=ordered"),
        ("data=writeback,nobarrier", "rw,nobarrier,data=writeback", ""),
        ("barrier", "rw,nobarrier", "nobarrier"),
        ("nodelalloc", "rw,delalloc", "delalloc"),
        # What is a default is not shown, and what the kernel calls otherwise is not held against.
        ("data=ordered", "rw,relatime", ""),
        ("barrier=0", "rw,nobarrier", ""),
        ("discard", "rw,discard=async", ""),
        ("compress=zstd", "rw,compress=zstd:3", "compress=zstd:3"),
    ],
)
def test_the_kernels_values_may_contradict_the_options(
    requested: str, shown: str, found: str
) -> None:
    assert find_contradiction(requested, shown.split(",")) == found


def superblock(**fields: int) -> bytes:
    """The fields at their offsets in Documentation/filesystems/ext4/super.rst."""
    data = bytearray(1024)
    struct.pack_into("<H", data, 0x38, 0xEF53)
    places = {
        "blocks_low": (0x4, "I"),
        "reserved_low": (0x8, "I"),
        "log_block_size": (0x18, "I"),
        "compatible": (0x5C, "I"),
        "blocks_high": (0x150, "I"),
        "reserved_high": (0x154, "I"),
        "stride": (0x164, "H"),
        "stripe_width": (0x170, "I"),
    }
    for name, value in fields.items():
        offset, form = places[name]
        struct.pack_into(f"<{form}", data, offset, value)
    return bytes(data)


def test_a_superblock_of_more_than_2_to_the_32_blocks() -> None:
    found = ExtSuperblock.parse(
        superblock(
            blocks_low=7,
            blocks_high=1,
            reserved_low=3,
            log_block_size=2,
            compatible=0x3C,
            stride=16,
            stripe_width=64,
        )
    )
    assert found == ExtSuperblock(4096, (1 << 32) + 7, 3, True, 16, 64)
    assert not ExtSuperblock.parse(superblock(compatible=0x38)).has_journal


@given(st.binary(max_size=2048))
def test_an_invalid_superblock_is_refused(data: bytes) -> None:
    if data[0x38:0x3A] == b"\x53\xef" and len(data) >= 1024:
        return
    with pytest.raises(ValueError, match="no superblock"):
        ExtSuperblock.parse(data)
