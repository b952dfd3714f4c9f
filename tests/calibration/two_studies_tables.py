"""Table of docs/method/calibration.md on the comparison of two studies of equal effects."""

from __future__ import annotations

from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape
from tests.calibration.two_studies import StudyModel, false_claims

PAIRS = 2000
SIDES = {
    "equal": (StudyModel(), StudyModel()),
    "opposed, 6 %": (StudyModel(0.06), StudyModel(-0.06)),
    "one 3 x as noisy": (StudyModel(), StudyModel(noise=3.0)),
}


def two_studies() -> list[Row]:
    """How often the comparison of two equal effects claims a difference."""
    rows: list[Row] = [("noise", *SIDES)]
    for shape in NoiseShape:
        rates = (false_claims(shape, sides, PAIRS) for sides in SIDES.values())
        rows.append((shape, *map(percent, rates)))
    return rows


TABLES = (two_studies,)
