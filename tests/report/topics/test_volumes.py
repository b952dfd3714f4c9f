"""Volumes and their disks in the report: expected and observed rates, merging, slow disks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iostudy.ledger.rows import TrialRow
from iostudy.report.render import json_
from iostudy.report.topics.volumes import build_volume, build_volume_section
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.targets.section import parse_target
from iostudy.study.targets.volume import LoopbackMembers, VolumeTarget
from iostudy.units import MIB
from tests.report.factory import build_report, factor, row, study, study_row

TARGET = parse_target(
    {"volume": {"kind": "lvm-raid10", "devices": [f"/dev/sd{letter}" for letter in "abcd"]}}
)
STUDY = replace(
    study(factor("volume.kind", "lvm-raid10", "lvm-striped"), workloads=("file-writes",)),
    target=TARGET,
)
DISKS = ("sda", "sdb", "sdc", "sdd")


def circumstances(rates: Sequence[float] = (100, 110, 105, 102)) -> dict[str, Any]:
    """Disks with these sequential rates in MiB/s, and as many random requests; writes of half."""
    return {
        "target": {
            "members": [
                {
                    "device": name,
                    "read_bytes_per_second": rate * MIB,
                    "reads_per_second": rate,
                    "write_bytes_per_second": rate * MIB / 2,
                    "writes_per_second": rate / 2,
                }
                for name, rate in zip(DISKS, rates, strict=True)
            ]
        }
    }


def trial(number: int, configuration: str) -> TrialRow:
    """Writes of 150 MiB/s in 300 requests/s; each disk gets 300, and merges two into one."""
    own = row(number, number, 1, "file-writes", configuration, 150.0)
    assert own.summary is not None
    common = own.summary.devices["loop0"]
    member = {**common, "w/s": 150.0, "wrqm/s": 150.0, "wkB/s": 75.0 * 1024}
    volume = {**common, "w/s": 300.0, "wkB/s": 150.0 * 1024, "r/s": 1.0, "rkB/s": 4.0}
    devices = {"dm-0": volume, **dict.fromkeys(DISKS, member)}
    summary = replace(
        own.summary,
        devices=devices,
        below={"dm-0": DISKS},
        titles={"dm-0": "253:0 = dm-0 = iostudy-x/data", "sda": "8:0 = sda"},
    )
    return replace(own, devices=("dm-0",), summary=summary)


ROWS = [trial(1, "lvm-raid10"), trial(2, "lvm-striped")]


def test_expected_and_observed_rates_of_each_layout() -> None:
    found = build_volume(STUDY, circumstances(), ROWS)
    assert found is not None
    raid10, striped = found.rates
    assert (raid10.direction, raid10.disks) == ("write", 2)
    assert (raid10.expected, raid10.observed) == (pytest.approx(100), pytest.approx(150))
    assert raid10.expected_requests == pytest.approx(100)
    assert (raid10.requests, raid10.member_requests, raid10.completed) == (300, 1200, 600)
    assert (striped.disks, striped.expected) == (4, pytest.approx(200))
    assert not any(member.is_slow for member in found.members)


@pytest.mark.parametrize(
    ("kind", "reads", "writes"),
    [
        ("lvm-linear", 1, 1),
        ("lvm-striped", 6, 6),
        ("lvm-raid1", 6, 1),
        ("lvm-raid1-linear", 2, 1),
        ("lvm-raid10", 6, 3),
        ("lvm-mirror", 3, 3),
        ("md-raid5", 5, 5),
        ("md-raid6", 4, 4),
    ],
)
def test_disks_that_work_at_a_time(kind: str, reads: int, writes: int) -> None:
    layout = VolumeLayout(kind)
    assert layout.parallel_disks(6, writes=False) == reads
    assert layout.parallel_disks(6, writes=True) == writes


DRIVES = {"model": "ultrastar-7k8", "size": "1GiB", "count": 4}


@pytest.mark.parametrize(
    ("members", "slow"),
    [
        pytest.param(DRIVES, (), marks=pytest.mark.all_plugins),
        pytest.param({**DRIVES, "last": "failing-7k8"}, ("sdd",), marks=pytest.mark.all_plugins),
        (LoopbackMembers(size="1GiB", count=4), ()),
        (tuple(Path(f"/dev/sd{letter}") for letter in "abcd"), ("sdd",)),
    ],
)
def test_a_disk_made_like_others_is_not_slow(members: Any, slow: tuple[str, ...]) -> None:
    """One of six modelled drives of one model was called slow on a busy host."""
    assert isinstance(TARGET, VolumeTarget)
    if isinstance(members, dict):
        made = parse_target({"volume": {"kind": "md-raid5", "devices": {"drive": members}}})
        assert isinstance(made, VolumeTarget)
        members = made.members
    study = replace(STUDY, target=replace(TARGET, members=members))
    found = build_volume(study, circumstances((100, 110, 105, 40)), ROWS)
    assert found is not None
    assert tuple(member.device for member in found.members if member.is_slow) == slow


def test_the_section_names_a_slow_disk_and_the_effect_of_merging() -> None:
    rates = circumstances((100, 110, 40, 102))
    report = build_report(STUDY, study_row(STUDY, rates), ROWS)
    section = build_volume_section(report.volume, report.noun)
    assert section is not None
    text = " ".join(section.notes)
    assert "sdc is slower than 80 % of the median disk" in text
    assert "writes moved 375 % of what 2 disks could in order, at 300 requests/s; " in text
    assert "at random the disks could do 40.0/s. Each request became 4.00 of the disks. " in text
    assert "Merging joined 2.00 to one, so that they completed 600/s." in text
    (table,) = section.tables
    assert table.rows[0][:6] == ("file-writes", "lvm-raid10", "write", "2", "40.0", "150")
    assert '"volume": {' in json_.render(report)


def test_a_study_without_a_volume_has_no_section() -> None:
    without = study(factor("block.scheduler", "none", "bfq"), workloads=("file-writes",))
    assert build_volume(without, circumstances(), ROWS) is None
    assert build_volume(STUDY, {"target": {}}, ROWS) is None
