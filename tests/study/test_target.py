"""Tests of the description of a target."""

from __future__ import annotations

from typing import Any

import pytest

from iostudy.study.targets.section import parse_target
from iostudy.study.targets.volume import VolumeTarget
from tests.study.files import GOOD, problems, read

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
        (
            "{volume: {kind: lvm-raid10, devices: [/dev/sda, /dev/sdb, /dev/sdc, /dev/sdd]}}",
            "[xfs]",
            (
                "a volume lvm-raid10 with stripes of 64KiB on /dev/sda, /dev/sdb, /dev/sdc, "
                "/dev/sdd, with xfs"
            ),
        ),
    ],
)
def test_a_target_is_described_with_every_file_system_that_is_made_on_it(
    target, levels, description
):
    text = GOOD.replace("/data/scratch", target)
    if levels:
        text = text.replace("block.scheduler:", f"filesystem.type: {levels}\n  block.scheduler:")
    assert read(text).describe_target() == description


def volume(**section: Any) -> VolumeTarget:
    found = parse_target({"volume": {"kind": "md-raid5", **section}})
    assert isinstance(found, VolumeTarget)
    return found


def test_the_disks_of_a_volume_are_made_or_those_of_the_user() -> None:
    made = volume(devices={"loopback": {"size": "64MiB", "count": 4}}, stripe_size="128KiB")
    assert (len(made.models), made.destroyed, made.is_made) == (4, (), True)
    assert made.layout.stripe_size_bytes == 128 << 10
    own = volume(devices=["/dev/sda", "/dev/sdb", "/dev/sdc"])
    assert (own.models, own.is_made) == (("/dev/sda", "/dev/sdb", "/dev/sdc"), False)
    assert own.destroyed == own.members


@pytest.mark.all_plugins
def test_the_last_modelled_drive_of_a_volume_is_another() -> None:
    drives = {"model": "sata-3tb", "size": "64MiB", "count": 3, "last": "failing-7k8"}
    found = volume(devices={"drive": drives})
    assert found.models == ("sata-3tb", "sata-3tb", "failing-7k8")
    assert "3 modelled drives sata-3tb of 64MiB, the last a failing-7k8" in found.describe()
    with pytest.raises(ValueError, match="no modelled drive"):
        volume(devices={"drive": {**drives, "last": "nothing"}})


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"devices": []}, "list devices such as"),
        ({"devices": "/dev/sda"}, "list devices such as"),
        ({"devices": ["/dev/sda", "/dev/sda"]}, "named twice"),
        ({"devices": {}}, "list devices such as"),
        ({"devices": {"loopback": {"size": "1GiB"}}}, "count"),
        ({"devices": ["/dev/sda"], "stripe_size": "48KiB"}, "a power of two"),
        ({"devices": ["/dev/sda"], "kind": "raid7"}, "kind of volume"),
        ({"devices": ["/dev/sda"], "layout": "wide"}, "layout"),
    ],
)
def test_invalid_volumes_are_refused(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        volume(**section)


VOLUME = "{volume: {kind: lvm-raid1, devices: {loopback: {size: 64MiB, count: 3}}}}"


@pytest.mark.parametrize(
    ("target", "factor", "message"),
    [
        (LOOPBACK, "volume.kind: [md-raid0, md-raid1]", "volumes are only made by the study"),
        ("/data", "volume.kind: [md-raid0, md-raid1]", "only made on a disk of the study's own"),
        (VOLUME, "volume.stripe_size: [64KiB, 1MiB]", "only there while volume.kind is"),
        (VOLUME, "volume.kind: [lvm-raid1, lvm-raid10]", "lvm-raid10 needs at least 4 disks"),
    ],
)
def test_a_layout_that_the_target_cannot_have(target: str, factor: str, message: str) -> None:
    text = GOOD.replace("/data/scratch", target).replace("block.scheduler: [none, bfq]", factor)
    assert any(message in problem.message for problem in problems(text))
