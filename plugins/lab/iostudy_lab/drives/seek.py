"""Seek times of a drive file: measured points, or the three times of a data sheet."""

from __future__ import annotations

import math
from typing import Annotated, TypeAlias

from pydantic import Field

from iostudy_lab.drives.quantities import Nanoseconds
from iostudy_lab.drives.section import DriveSection

Points: TypeAlias = list[tuple[int, int]]

SeekTable = Annotated[dict[Annotated[int, Field(ge=1)], Nanoseconds], Field(min_length=1)]
"""Seek time by distance in cylinders."""


class PublishedSeek(DriveSection):
    """Track-to-track, average and full-stroke seek times."""

    track_to_track: Nanoseconds
    average: Nanoseconds
    full_stroke: Nanoseconds


def points(seek: dict[int, int] | PublishedSeek, cylinders: int) -> Points:
    """Nanoseconds by distance, ascending.

    Published times give a + b sqrt(x) + c x of the share x of the full stroke, where the average
    is the time of a third of it (C. Ruemmler, J. Wilkes: An introduction to disk drive modeling,
    IEEE Computer 27(3), 1994).
    """
    if isinstance(seek, dict):
        return sorted(seek.items())
    start, middle, full = seek.track_to_track, seek.average, seek.full_stroke
    root, linear = _coefficients(middle - start, full - start)
    distances = sorted({round(cylinders ** (step / 64)) for step in range(64)} | {cylinders - 1})
    shares = {distance: (distance - 1) / max(1, cylinders - 2) for distance in distances}
    return [(d, round(start + root * math.sqrt(x) + linear * x)) for d, x in shares.items()]


def _coefficients(third: int, full: int) -> tuple[float, float]:
    """Coefficients b and c with b sqrt(1/3) + c/3 = ``third`` and b + c = ``full``."""
    root = (third - full / 3) / (math.sqrt(1 / 3) - 1 / 3)
    return root, full - root
