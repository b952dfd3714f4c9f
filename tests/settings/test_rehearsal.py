"""A file system that would not fit its disk is known before there is a disk."""

from __future__ import annotations

import pytest

from iostudy.errors import TargetError
from iostudy.settings.commands import installed
from iostudy.settings.scratch.filesystem import Filesystem, maker
from iostudy.settings.scratch.rehearsal import require_makeable
from iostudy.units import KIB, MIB


def needs(filesystem: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not installed(maker(filesystem)), reason=f"no {maker(filesystem)}")


@pytest.mark.parametrize(
    ("filesystem", "size_bytes"),
    [
        pytest.param(Filesystem("xfs"), MIB, marks=needs("xfs")),
        pytest.param(Filesystem("ext4"), 4 * KIB, marks=needs("ext4")),
    ],
)
def test_a_disk_that_is_too_small(filesystem, size_bytes):
    with pytest.raises(TargetError, match="a disk of") as caught:
        require_makeable(filesystem, size_bytes)
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
    require_makeable(filesystem, 1 << 40)
