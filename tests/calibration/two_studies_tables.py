"""Table of docs/method.md on the comparison of two equal studies."""

from __future__ import annotations

from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape
from tests.calibration.two_studies import StudyModel, claims

PAIRS = 2000
SIDES = {
    "equal": (StudyModel(), StudyModel()),
    "opposed, 6 %": (StudyModel(0.06), StudyModel(-0.06)),
    "one 3 x as noisy": (StudyModel(), StudyModel(noise=3.0)),
}


def two_studies() -> list[Row]:
    """How often any of two comparisons claims a difference, as reported and without flags."""
    rows: list[Row] = [("noise", *SIDES, *(f"{name}, flags ignored" for name in SIDES))]
    for shape in NoiseShape:
        found = [claims(shape, sides, PAIRS) for sides in SIDES.values()]
        shares = (*(each.reported for each in found), *(each.any for each in found))
        rows.append((shape, *map(percent, shares)))
    return rows


TABLES = (two_studies,)
