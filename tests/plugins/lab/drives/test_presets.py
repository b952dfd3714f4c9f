"""Presets: valid drive files with sources that the model can replay; refused files and requests."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from iostudy._native import DriveModel
from iostudy.errors import UsageError
from iostudy_lab.drives import drive_file, presets
from iostudy_lab.drives.disk import Disk

FLASH = {"ssd-consumer", "ssd-data-centre"}


def _model(name: str) -> DriveModel:
    return DriveModel(drive_file.parameters(presets.load(name)))


def test_a_preset_serves_reads_writes_and_flushes():
    for name in presets.names():
        drive = presets.load(name)
        assert drive.sources, name
        requests = [
            ("read", 0, 8, 0),
            ("write", drive.capacity // 4, 8, 0),
            ("read", drive.capacity - 8, 8, 0),
            ("fua", drive.capacity // 3, 8, 0),
            ("flush", 0, 0, 0),
        ]
        responses = _model(name).replay(requests, depth=1)
        assert all(0 <= response < 200_000_000 for response in responses), name


def test_a_model_has_the_blocks_of_its_file():
    for name in FLASH | {"atlas-10k", "ultrastar-7k8", "smr-8tb"}:
        assert _model(name).blocks() == presets.load(name).capacity


def test_sequential_reads_reach_the_outer_rate():
    megabytes = 1000
    requests = [("read", 2048 * index, 2048, 0) for index in range(megabytes)]
    responses = _model("ultrastar-7k8").replay(requests, depth=1)
    rate = (megabytes - 1) * 2048 * 512 / sum(responses[1:]) * 1e3
    assert rate == pytest.approx(205, rel=0.03)


def test_the_seek_curve_has_the_times_of_the_file():
    drive = presets.load("ultrastar-7k8")
    assert isinstance(drive, Disk)
    times = dict(drive.parameters()["seek"])
    assert times[1] == 600_000
    assert max(times.values()) == pytest.approx(16_000_000, rel=0.001)


def test_an_unknown_name_lists_the_drives():
    with pytest.raises(UsageError, match="cheetah-9lp"):
        presets.load("cheetah")


def test_a_wrong_key_is_named(tmp_path):
    path = tmp_path / "drive.yaml"
    text = (drive_file.PRESETS / "ultrastar-7k8.yaml").read_text("utf-8")
    path.write_text(text.replace("7200rpm", "7200"), "utf-8")
    with pytest.raises(UsageError, match=r"rotation: .*write a number and rpm"):
        drive_file.load(path)


def test_parameters_are_json():
    assert json.loads(drive_file.parameters(presets.load("smr-8tb")))["family"] == "disk"


def test_a_refused_request_is_explained():
    with pytest.raises(ValueError, match="not on a drive of"):
        _model("dec-rz26").replay([("read", 1 << 40, 8, 0)], depth=1)


def test_responses_repeat():
    requests = [("read", 7_919 * index, 8, 1000) for index in range(50)]
    assert _model("barracuda-4lp").replay(requests, 1) == _model("barracuda-4lp").replay(
        requests, 1
    )


def test_a_base_gives_what_the_file_lacks(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("base: ultrastar-7k8\nname: Mine\nrotation: 5400rpm\n")
    found, base = drive_file.load(path), presets.load("ultrastar-7k8")
    assert (found.name, found.capacity) == ("Mine", base.capacity)
    assert isinstance(found, Disk) and isinstance(base, Disk)
    assert found.rotation > base.rotation
    path.write_text("base: failing-7k8\nname: Mine\n")  # whose base is ultrastar-7k8
    failing = drive_file.load(path)
    assert isinstance(failing, Disk)
    assert (failing.rotation, len(failing.weak_regions)) == (base.rotation, 1)
    path.write_text("base: nothing\n")
    with pytest.raises(UsageError, match="as base one of"):
        drive_file.load(path)


def test_reads_of_the_failing_drive_take_longer() -> None:
    reads = [("read", block, 8, 0) for block in range(0, 8 << 21, 99_992)]
    healthy, failing = (
        fmean(_model(name).replay(reads, 1)) for name in ("ultrastar-7k8", "failing-7k8")
    )
    # A fifth of the reads takes 24 revolutions of 8.33 ms longer.
    assert failing - healthy == pytest.approx(0.2 * 24 * 8.33e6, rel=0.3)
