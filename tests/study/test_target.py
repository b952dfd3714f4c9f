"""Tests of the description of a target."""

from __future__ import annotations

from typing import Any

import pytest

from iostudy.study.targets import DriveTarget, extra_filesystems, parse_target
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


def test_a_modelled_drive() -> None:
    found = parse_target({"drive": {"model": "ultrastar-7k8", "size": "8GiB", "count": 3}})
    assert found == DriveTarget("ultrastar-7k8", 8 << 30, "ext4", 3)
    assert extra_filesystems(found) == {"drive2": "ext4", "drive3": "ext4"}
    assert found.describe() == "3 modelled drives ultrastar-7k8 of 8GiB with ext4"


def test_modelled_drives_of_several_models() -> None:
    section = {
        "model": "ultrastar-7k8",
        "size": "1GiB",
        "count": 2,
        "beside": {"bad": "failing-7k8"},
    }
    found = parse_target({"drive": section})
    assert isinstance(found, DriveTarget)
    assert found.models == ("ultrastar-7k8", "ultrastar-7k8", "failing-7k8")
    assert list(extra_filesystems(found)) == ["drive2", "bad"]
    assert found.describe().endswith("with ext4, with further drives bad (failing-7k8)")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            {"model": "smr-8tb", "size": "1GiB", "count": 2, "beside": {"drive2": "smr-8tb"}},
            "one of the 2 equal drives",
        ),
        ({"model": "smr-8tb", "size": "1GiB", "beside": {"b": "nothing"}}, "no modelled drive"),
        ({"model": "nothing", "size": "8GiB"}, "no modelled drive"),
        ({"model": "ultrastar-7k8", "size": "8GiB", "count": 0}, "greater than or equal to 1"),
        ({"model": "ultrastar-7k8"}, "size"),
    ],
)
def test_what_is_no_modelled_drive(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_target({"drive": section})
