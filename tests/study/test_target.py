"""Tests of the description of a target."""

from __future__ import annotations

import pytest

from tests.study.files import GOOD, read

LOOPBACK = "{loopback: {size: 2GiB}}"
SCRATCH = "{scratch: {device: /dev/sdz}}"


@pytest.mark.parametrize(
    ("target", "levels", "description"),
    [
        ("/data/scratch", "", "/data/scratch"),
        (LOOPBACK, "", "a loop-back disk of 2GiB with ext4"),
        (LOOPBACK, "[ext4, xfs]", "a loop-back disk of 2GiB with ext4 or xfs"),
        (LOOPBACK, "[xfs]", "a loop-back disk of 2GiB with xfs"),
        (LOOPBACK, "offered", "a loop-back disk of 2GiB with each file system that is offered"),
        (
            "{loopback: {size: 64MiB, beside: {disk2: ext4, other: xfs}}}",
            "",
            "a loop-back disk of 64MiB with ext4, with further disks disk2 (ext4), other (xfs)",
        ),
        (SCRATCH, "", "/dev/sdz formatted with ext4"),
        (SCRATCH, "[xfs, btrfs]", "/dev/sdz formatted with xfs or btrfs"),
    ],
)
def test_a_target_is_described_with_every_file_system_that_is_made_on_it(
    target, levels, description
):
    text = GOOD.replace("/data/scratch", target)
    if levels:
        text = text.replace("block.scheduler:", f"filesystem.type: {levels}\n  block.scheduler:")
    assert read(text).describe_target() == description
