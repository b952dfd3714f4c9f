"""Tests of modelled drives as targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostudy.study.requests import digest_files
from iostudy.study.targets.section import parse_target
from iostudy_lab.study.target import DriveTarget
from tests.study.files import GOOD, read


def test_a_modelled_drive() -> None:
    found = parse_target({"drive": {"model": "ultrastar-7k8", "size": "8GiB", "count": 3}})
    assert found == DriveTarget("ultrastar-7k8", 8 << 30, "ext4", 3)
    assert found.extra_filesystems == {"drive2": "ext4", "drive3": "ext4"}
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
    assert list(found.extra_filesystems) == ["drive2", "bad"]
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
def test_invalid_modelled_drives_are_refused(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_target({"drive": section})


def test_a_volume_of_modelled_drives() -> None:
    drives = {"drive": {"model": "ultrastar-7k8", "size": "1GiB", "count": 6}}
    options = {"layout": "far", "stripes": 2, "initial_sync": False}
    found = parse_target({"volume": {"kind": "md-raid10", "devices": drives, **options}})
    assert found.describe() == (
        "a volume md-raid10 with 2 stripes of 64KiB, far copies on 6 modelled drives "
        "ultrastar-7k8 of 1GiB, without initial sync, with ext4"
    )


@pytest.mark.parametrize(
    "target",
    [
        "{drive: {OF, model: FILE}}",
        "{drive: {OF, model: smr-8tb, beside: {other: FILE}}}",
        "{drive: {OF, model: FILE, simulated: true}}",
        "{volume: {kind: md-raid0, devices: {drive: {OF, count: 2, model: smr-8tb, last: FILE}}}}",
    ],
)
def test_drive_files_are_files_of_the_study(tmp_path: Path, target: str) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("base: ultrastar-7k8\n")
    target = target.replace("FILE", str(path)).replace("OF", "size: 1GiB")
    study = read(GOOD.replace("/data/scratch", target))
    before = digest_files(study)
    assert before.keys() == {str(path)}
    path.write_text("base: ultrastar-7k8\nrpm: 5400\n")
    assert digest_files(study) != before
