"""``iostudy drive measure``: of modelled drives, and of real loop devices, which do not rotate."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from iostudy.errors import TargetError, TrialError, UsageError
from iostudy.host import stack
from iostudy.host.devices import read_device
from iostudy.node.block_device_prober import open_prober
from iostudy.prober import Request
from iostudy_lab.cli.measure import measure
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.measure import rotation
from iostudy_lab.drives.measure.rates import SMALLEST_BYTES
from tests.fixtures_loop import loop_disk

CONTENT = b"keep" * 1024


def test_a_modelled_drive_gets_a_drive_file_and_a_page(capsys, tmp_path):
    measure("cheetah-9lp", out=tmp_path)
    assert "10045.00 rpm" in capsys.readouterr().out
    (path,) = tmp_path.glob("*.yaml")
    drive = drive_file.load(path)
    assert drive.surfaces == 12
    assert round(60e9 / drive.rotation) == 10045
    page = (path.with_suffix(".html")).read_text("utf-8")
    assert 'id="seeks-1"' in page
    assert 'id="rates-1"' in page
    assert 'id="responses-1"' in page


def test_json_has_every_value(capsys, tmp_path):
    measure("dec-rz26", out=tmp_path, json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["layout"]["surfaces"] == 14
    assert document["writes"] is None


def test_writes_of_a_modelled_drive_need_no_consent(capsys, tmp_path):
    measure("dec-rz26", out=tmp_path, write_scratch=True)
    assert "write cache" in capsys.readouterr().out


def test_an_unknown_target_is_refused(tmp_path):
    with pytest.raises(UsageError):
        measure("no-such-drive", out=tmp_path)


def test_a_drive_too_small_for_a_rate_is_refused(tmp_path, monkeypatch):
    small = SimpleNamespace(path=Path("/nowhere/disk"), size_bytes=SMALLEST_BYTES - 512)
    monkeypatch.setattr(stack, "find_devices", lambda _target: (small,))
    with pytest.raises(TargetError, match="at least 48MiB"):
        measure(str(small.path), out=tmp_path)


def test_a_time_limit_without_a_number_is_refused(tmp_path):
    with pytest.raises(UsageError, match="--time-limit"):
        measure("dec-rz26", out=tmp_path, time_limit="soon")


@pytest.mark.root
@pytest.mark.child
def test_a_loop_device_has_no_rotation_and_keeps_its_content(capsys, tmp_path, monkeypatch):
    # The longer lists are for caches, and idle between their reads for 24 s.
    monkeypatch.setattr(rotation, "_LISTS", rotation._LISTS[:1])
    with loop_disk() as name:
        device = Path("/dev") / name
        device.write_bytes(CONTENT)
        measure(str(device), out=tmp_path)
        assert device.read_bytes().startswith(CONTENT)
    printed = capsys.readouterr()
    assert "none (p = " in printed.out
    assert "no rotation" in printed.err
    assert not list(tmp_path.glob("*.yaml"))
    assert list(tmp_path.glob("*.html"))


@pytest.mark.root
@pytest.mark.child
def test_a_device_with_a_signature_is_not_written(tmp_path):
    with loop_disk() as name:
        subprocess.run(["mkfs.ext4", "-q", f"/dev/{name}"], check=True)
        before = Path(f"/dev/{name}").read_bytes()
        with pytest.raises(TargetError, match="without signatures"):
            measure(f"/dev/{name}", out=tmp_path, write_scratch=True, yes=True)
        assert Path(f"/dev/{name}").read_bytes() == before


@pytest.mark.root
@pytest.mark.child
def test_writes_need_consent(tmp_path):
    with loop_disk() as name, pytest.raises(UsageError, match="consent"):
        measure(f"/dev/{name}", out=tmp_path, write_scratch=True)


@pytest.mark.root
@pytest.mark.child
def test_a_prober_of_a_device_reads_writes_and_times():
    with loop_disk() as name:
        device = read_device(name)
        with open_prober(device.path, device, write=True) as prober:
            assert prober.blocks * 512 == device.size_bytes
            one = prober.run(
                [
                    Request("write", 8 * prober.unit, prober.unit),
                    Request("fua", 16 * prober.unit, prober.unit),
                    Request("flush", 0, 0),
                    Request("read", 8 * prober.unit, prober.unit, 2_000_000),
                ],
                1,
            )
            many = prober.run([Request("read", n * prober.unit, prober.unit) for n in range(99)], 8)
            beyond = Request("read", prober.blocks, prober.unit)
            with pytest.raises(TrialError, match=f"at block {prober.blocks}"):
                prober.run([beyond], 1)
    assert one[3].start_ns - one[2].end_ns >= 2_000_000
    assert all(each.end_ns > each.start_ns for each in [*one, *many])
    assert len(many) == 99


@pytest.mark.root
@pytest.mark.child
def test_a_prober_that_may_not_write_cannot():
    with loop_disk() as name:
        device = read_device(name)
        with open_prober(device.path, device, write=False) as prober, pytest.raises(TrialError):
            prober.run([Request("write", 0, prober.unit)], 1)
