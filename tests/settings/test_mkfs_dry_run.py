"""A file system that would not fit its disk is known before there is a disk."""

from __future__ import annotations

import pytest

from iostudy.errors import TargetError
from iostudy.settings.commands import is_installed
from iostudy.settings.scratch.filesystem import Filesystem, mkfs_program
from iostudy.settings.scratch.new_filesystem import check_mkfs
from iostudy.units import KIB, MIB

pytestmark = pytest.mark.child


def needs(filesystem: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not is_installed(mkfs_program(filesystem)), reason=f"no {mkfs_program(filesystem)}"
    )


@pytest.mark.parametrize(
    ("filesystem", "size_bytes"),
    [
        pytest.param(Filesystem("xfs"), MIB, marks=needs("xfs")),
        pytest.param(Filesystem("ext4"), 4 * KIB, marks=needs("ext4")),
    ],
)
def test_a_disk_that_is_too_small(filesystem, size_bytes):
    with pytest.raises(TargetError, match="a disk of") as caught:
        check_mkfs(filesystem, size_bytes)
    assert caught.value.found
    assert "Usage" not in caught.value.found


@pytest.mark.parametrize(
    "filesystem",
    [
        pytest.param(Filesystem("xfs"), marks=needs("xfs")),
        pytest.param(Filesystem("ext4", journal="off", reserved="0"), marks=needs("ext4")),
        pytest.param(Filesystem("ext3", stripe_width="64 4"), marks=needs("ext3")),
        Filesystem("btrfs"),
    ],
)
def test_a_disk_that_is_large_enough(filesystem):
    check_mkfs(filesystem, 1 << 40)
