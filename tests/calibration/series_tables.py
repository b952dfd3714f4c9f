"""Tables of docs/method/calibration.md on flags: false flags and power."""

from __future__ import annotations

from iostudy.analysis.series import Flag
from tests.calibration.flagged import flagged, unequal_variance_marks
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape

STUDIES = 4000
OF_SERIES = tuple(flag for flag in Flag if flag not in (Flag.IMBALANCE, Flag.RATE_LIMIT))
"""A covariate is no series of figures, and a limit is no test."""
MARKED = 1000


def flags_raised() -> list[Row]:
    """Each flag under every shape of noise, between equal configurations."""
    rows: list[Row] = [("noise", "any flag", *OF_SERIES)]
    for shape in NoiseShape:
        found = flagged(shape, STUDIES)
        rows.append(
            (shape, percent(found.any), *(percent(found.share(flag)) for flag in OF_SERIES))
        )
    return rows


def unequal_variance_flags() -> list[Row]:
    """False winners where one side is noisier, and how many of them are marked."""
    heads = ("noise of one side", "of the other", "false winner")
    rows: list[Row] = [(*heads, "of these marked", "of all others marked")]
    for shape in (NoiseShape.NORMAL, NoiseShape.SPIKES, NoiseShape.LOG_NORMAL):
        for quiet, name in ((0.0, "none"), (0.25, "a quarter"), (0.5, "half")):
            found = unequal_variance_marks(shape, quiet, 10 * STUDIES, MARKED)
            shares = (found.wrong, found.wrong_marked, found.others_marked)
            rows.append((shape, name, *map(percent, shares)))
    return rows


TABLES = (flags_raised, unequal_variance_flags)
