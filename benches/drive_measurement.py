"""Parameters that `iostudy drive measure` finds on modelled drives, against those of their files.

``python -m benches.drive_measurement`` prints a line for each preset of a disk drive.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

import numpy as np
from ruamel.yaml import YAML

from iostudy.prober import Prober, Request
from iostudy_lab.drives import drive_file, presets, seek
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash
from iostudy_lab.drives.measure.drive_text import Origin, format_drive_file
from iostudy_lab.drives.measure.measure_drive import measure_drive
from iostudy_lab.drives.measure.modelled import ModelProber
from iostudy_lab.drives.measure.result import DriveMeasurement
from iostudy_lab.drives.measure.rotation import Rotation
from iostudy_lab.drives.measure.session import Session

_LIMIT_NS = 3600 * 10**9
_READS = 5000
_SIZES = (1, 8, 64)


@dataclass(frozen=True)
class Errors:
    """Relative errors of measured parameters."""

    rpm: float
    seeks: tuple[float, ...]
    """Of each distance."""
    sectors: float
    """Largest error of the sectors of a track, at 100 places."""
    surfaces: tuple[int | None, int]
    """Measured and true."""
    cache: tuple[int, int]
    """Measured and true size of all segments, in blocks."""

    @property
    def median_seek(self) -> float:
        """Median of the absolute errors of seek times."""
        return float(np.median(np.abs(self.seeks)))

    @property
    def worst_seek(self) -> float:
        """Largest absolute error of a seek time."""
        return float(np.abs(self.seeks).max())


def measure(prober: Prober, *, write: bool = False) -> DriveMeasurement:
    """Measure a drive without a progress report."""
    return measure_drive(Session(prober, _LIMIT_NS), write=write)


def compare(drive: Disk, measured: DriveMeasurement) -> Errors:
    """Errors against a drive file."""
    rotation, layout, seeks, cache = (
        measured.rotation,
        measured.layout,
        measured.seeks,
        measured.cache,
    )
    assert isinstance(rotation, Rotation) and layout and seeks and cache
    zones = drive.all_zones()
    cylinders = zones[-1].first_cylinder + zones[-1].cylinders
    distances, times = zip(*seek.points(drive.seek, cylinders), strict=True)
    return Errors(
        rpm=drive.rotation / rotation.period_ns - 1,
        seeks=tuple(
            float(point.time_ns / np.interp(point.cylinders, distances, times) - 1)
            for point in seeks.points
        ),
        sectors=_sector_error(drive, measured),
        surfaces=(layout.surfaces, drive.surfaces),
        cache=(cache.blocks, drive.cache.read_segments * drive.cache.segment),
    )


def _sector_error(drive: Disk, measured: DriveMeasurement) -> float:
    """Largest error of the sectors of a track, at places apart from the ends of zones."""
    layout = measured.layout
    assert layout is not None
    ends, sectors = _true_zones(drive)
    errors = []
    for place in np.linspace(0.005, 0.995, 100) * measured.blocks:
        near = np.abs(np.array(ends) - place).min() < measured.blocks / 500
        true = sectors[int(np.searchsorted(ends, place, side="right"))]
        estimated = layout.zone_of(int(place)).sectors
        if not near:
            errors.append(abs(estimated / true - 1))
    return max(errors)


def _true_zones(drive: Disk) -> tuple[list[int], list[int]]:
    """Last blocks of the zones, and their sectors."""
    ends, end = [], 0
    for zone in drive.all_zones():
        tracks = zone.cylinders * drive.surfaces
        blocks = tracks * zone.sectors - zone.reserved
        if zone.spares is not None:
            blocks -= tracks // zone.spares.tracks * zone.spares.sectors
        end += blocks
        ends.append(end)
    return ends, [region.sectors for region in drive.all_zones()]


def reload(measured: DriveMeasurement) -> Disk | Flash:
    """Drive of the file that the measurement writes."""
    text = format_drive_file(measured, Origin("measured", 2000, "bench"))
    assert text is not None
    return drive_file.check(YAML(typ="safe", pure=True).load(text), "a measured drive")


def demerit(drive: Disk, measured: Disk | Flash) -> float:
    """Demerit of the measured drive's random reads against the drive's (docs/drives.md)."""
    source = random.Random(5)
    last = min(drive.capacity, measured.capacity) - max(_SIZES)
    reads = [Request("read", source.randrange(last), source.choice(_SIZES)) for _ in range(_READS)]
    true, estimated = (
        np.sort([read.response_ns for read in ModelProber(model).run(reads, 1)])
        for model in (drive, measured)
    )
    return float(np.sqrt(np.mean((true - estimated) ** 2)) / true.mean())


def main() -> int:
    """Print a line for each preset of a disk."""
    for name in presets.names():
        drive = presets.load(name)
        if not isinstance(drive, Disk):
            continue
        measured = measure(ModelProber(drive))
        errors = compare(drive, measured)
        assert measured.cache and measured.queue
        print(
            f"| {name} | {errors.rpm:.1e} | {errors.median_seek:.1%} | {errors.worst_seek:.1%} "
            f"| {errors.sectors:.1%} | {errors.surfaces[0]} of {errors.surfaces[1]} "
            f"| {measured.cache.segments} x {measured.cache.segment_blocks} of "
            f"{drive.cache.read_segments} x {drive.cache.segment} "
            f"| {measured.queue.depth} of {drive.queue.depth} "
            f"| {demerit(drive, reload(measured)):.1%} | {measured.seconds / 60:.0f} min |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
