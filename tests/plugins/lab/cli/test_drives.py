"""The list of drives, and one drive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_lab.cli.drive import down
from iostudy_lab.cli.drives import drives
from iostudy_lab.drives import drive_file, presets


def test_every_drive_has_a_line(capsys):
    drives()
    printed = capsys.readouterr().out
    assert all(f"{name} " in printed for name in presets.names())


def test_a_drive_is_described_with_its_sources(capsys):
    for name in presets.names():
        drives(name)
        printed = " ".join(capsys.readouterr().out.split())
        drive = presets.load(name)
        assert drive.name in printed
        assert " ".join(drive.sources[0].split())[:20] in printed, name


def test_json_has_the_parameters(capsys):
    drives("cheetah-9lp", json=True)
    assert json.loads(capsys.readouterr().out)["parameters"]["surfaces"] == 12


def test_a_file_is_described(capsys, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text((drive_file.PRESETS / "dec-rz26.yaml").read_text("utf-8"), "utf-8")
    drives(str(path))
    assert "Digital RZ26" in capsys.readouterr().out


def test_an_unknown_drive_is_refused():
    with pytest.raises(UsageError, match="lists the drives"):
        drives("floppy")


@pytest.mark.parametrize(
    ("devices", "every", "found"), [(None, False, "neither"), ([Path("/dev/loop0")], True, "both")]
)
def test_drives_end_by_name_or_all(devices, every, found):
    with pytest.raises(UsageError, match=found):
        down(devices, every=every)
