"""Modelled drives are measured, with and without a late host; flash has no mechanics."""

from __future__ import annotations

import math

import pytest
from benches.drive_measurement import compare, demerit, measure, reload

from iostudy.prober import Timing
from iostudy_lab.drives import drive_file, presets
from iostudy_lab.drives.measure import layout
from iostudy_lab.drives.measure.drive_text import Origin, format_drive_file
from iostudy_lab.drives.measure.measure_drive import measure_drive
from iostudy_lab.drives.measure.modelled import ModelProber
from iostudy_lab.drives.measure.rates import SMALLEST_BYTES, measure_rates
from iostudy_lab.drives.measure.rotation import NoRotation
from iostudy_lab.drives.measure.session import Session
from tests.plugins.lab.drives.measure.noisy import NoisyDrive

# Every worker collects this file: to load all drives would take a second of each.
TEXTS = {name: (drive_file.PRESETS / f"{name}.yaml").read_text() for name in presets.names()}
FLASH = [name for name, text in TEXTS.items() if "family: flash" in text]
# Retries hide the seek curve of a failing drive.
DISKS = [n for n, text in TEXTS.items() if n not in FLASH and "weak_regions" not in text]


@pytest.mark.campaign
@pytest.mark.parametrize("prober", [ModelProber, NoisyDrive])
@pytest.mark.parametrize("name", DISKS)
def test_a_measured_disk_has_the_parameters_of_its_file(name, prober):
    drive = presets.load(name)
    measured = measure(prober(drive))
    errors = compare(drive, measured)
    assert abs(errors.rpm) < 0.001
    assert errors.worst_seek < 0.05
    assert errors.sectors < 0.02
    assert errors.surfaces[0] == errors.surfaces[1]
    assert round(math.log2(errors.cache[0])) == round(math.log2(errors.cache[1]))
    assert measured.cache.segments == drive.cache.read_segments
    if drive.queue.depth > 1:
        assert measured.queue.depth == drive.queue.depth


@pytest.mark.parametrize(("name", "worst"), [("cheetah-9lp", 0.02), ("exos-x16", 0.02)])
def test_the_model_takes_the_measured_file(name, worst):
    drive = presets.load(name)
    assert demerit(drive, reload(measure(ModelProber(drive)))) < worst


@pytest.mark.parametrize("name", ["barracuda-2tb", "smr-8tb"])
def test_sequential_rates_are_those_of_the_file(name):
    drive = presets.load(name)
    rates = measure(ModelProber(drive)).rates
    for point, rate in ((rates[0], drive.zones.outer), (rates[-1], drive.zones.inner)):
        # The rates of the file are those of the ends of the drive; zones are flat.
        assert point.bytes_per_second == pytest.approx(float(rate), rel=0.035)


def test_the_smallest_drive_has_rates():
    class Steady:
        blocks, unit, most_blocks, most_depth = SMALLEST_BYTES // 512, 1, 4096, 32
        now_ns = 0

        def run(self, requests, _depth):
            times = []
            for request in requests:
                assert request.block + request.blocks <= self.blocks
                start, self.now_ns = self.now_ns, self.now_ns + request.blocks * 512
                times.append(Timing(start, self.now_ns))
            return times

    rates = measure_rates(Session(Steady(), limit_ns=10**12))
    assert {point.bytes_per_second for point in rates} == {1e9}


@pytest.mark.campaign
@pytest.mark.parametrize("name", FLASH)
@pytest.mark.parametrize("prober", [ModelProber, NoisyDrive])
def test_flash_has_no_rotation_and_no_drive_file(name, prober):
    measured = measure(prober(presets.load(name)))
    assert isinstance(measured.rotation, NoRotation)
    assert measured.rotation.p_value > 0.01
    assert measured.seeks is None
    assert measured.queue.gain > 2
    assert "no rotation" in measured.missing[0]
    assert format_drive_file(measured, Origin("flash", 2000, "test")) is None


def test_writes_show_the_write_cache_and_the_flush():
    drive = presets.load("barracuda-2tb")
    writes = measure(ModelProber(drive), write=True).writes
    assert writes.cached
    assert writes.absorbed_writes == pytest.approx(drive.cache.write_extents, rel=0.05)
    assert writes.absorbed_blocks == pytest.approx(drive.cache.write_size, rel=0.05)
    assert 28e6 < writes.flush.fixed_ns < 60e6
    assert not writes.moves


@pytest.mark.parametrize("prober", [ModelProber, NoisyDrive])
def test_written_blocks_of_a_shingled_drive_move(prober):
    assert measure(prober(presets.load("smr-8tb")), write=True).writes.moves


def test_a_drive_without_a_write_cache_has_none():
    writes = measure(ModelProber(presets.load("dec-rz26")), write=True).writes
    assert not writes.cached
    assert writes.absorbed_writes is None


def test_only_consent_writes():
    class ReadOnly(ModelProber):
        def run(self, requests, depth):
            assert all(each.operation == "read" for each in requests)
            return super().run(requests, depth)

    assert measure(ReadOnly(presets.load("cheetah-9lp"))).writes is None


def test_the_time_limit_ends_a_measurement():
    session = Session(ModelProber(presets.load("cheetah-9lp")), limit_ns=60 * 10**9)
    measured = measure_drive(session)
    assert measured.rotates
    assert measured.seeks is None
    assert "time limit of 60 s" in measured.missing[0]
    assert measured.seconds < 120


def test_a_disk_without_a_common_number_of_surfaces_is_measured(monkeypatch):
    monkeypatch.setattr(layout.Skews, "surfaces", lambda skews: skews.track.start)
    measured = measure(ModelProber(presets.load("dec-rz26")))
    assert measured.layout.surfaces is None
    assert measured.layout.zones
    assert any("surfaces" in figure for figure in measured.missing)


def test_a_file_says_what_was_not_measured():
    measured = measure(ModelProber(presets.load("cheetah-9lp")))
    text = format_drive_file(measured, Origin("a 'quoted' name", 2000, "test"))
    assert "write_settle: 0ms  # not measured" in text
    assert "name: 'a ''quoted'' name'" in text
