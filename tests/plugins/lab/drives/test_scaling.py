"""Drives scaled to another capacity."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from iostudy._native import DriveModel
from iostudy.errors import UsageError
from iostudy_lab.drives import drive_file, presets, scaling
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash

GIB = 1 << 30


def mean_ms(drive: Disk | Flash, requests: list[tuple[str, int, int, int]]) -> float:
    return fmean(DriveModel(drive_file.parameters(drive)).replay(requests, depth=1)) / 1e6


def random_reads(drive: Disk | Flash) -> list[tuple[str, int, int, int]]:
    draw = random.Random(5)
    return [("read", draw.randrange(drive.capacity // 8) * 8, 8, 0) for _ in range(2000)]


def test_every_drive_can_be_smaller() -> None:
    for drive in map(presets.load, presets.names()):
        smaller = scaling.scale(drive, 256 << 20)
        assert smaller.size_bytes == 256 << 20
        assert DriveModel(drive_file.parameters(smaller)).blocks() == smaller.capacity, drive.name
        assert scaling.scale(drive, drive.size_bytes) is drive


@pytest.mark.parametrize("name", ["ultrastar-7k8", "exos-x16", "barracuda-2tb"])
def test_times_stay(name: str) -> None:
    """At a size of which the cache is a small share."""
    drive = presets.load(name)
    smaller = scaling.scale(drive, 64 * GIB)
    random_ms = mean_ms(drive, random_reads(drive))
    assert mean_ms(smaller, random_reads(smaller)) == pytest.approx(random_ms, rel=0.03)
    # 200 MiB from the start: a sequential read of the outer zone.
    sequential = [("read", at * 2048, 2048, 0) for at in range(200)]
    assert mean_ms(smaller, sequential) == pytest.approx(mean_ms(drive, sequential), rel=0.03)


def test_a_drive_cannot_be_larger() -> None:
    with pytest.raises(UsageError, match="at most"):
        scaling.scale(presets.load("atlas-10k"), 1 << 40)
