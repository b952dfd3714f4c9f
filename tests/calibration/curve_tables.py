"""Tables of docs/method/calibration.md on scaling curves."""

from __future__ import annotations

from dataclasses import replace

from tests.calibration.rows import Row, percent
from tests.calibration.scaled import EQUAL, OVERTAKING, TOUCHING, CurveModel, simulate
from tests.calibration.simulation import NoiseShape
from tests.calibration.verdict_tables import REACHABLE

STUDIES = 1000


def curve_rates() -> list[Row]:
    """Curves of three configurations at four loads, of which two touch, or cross."""
    heads = ("noise", "values missed", "gains missed", "knee missed", "made up")
    rows: list[Row] = [(*heads, "crossing found", "crossing missed")]
    for shape in NoiseShape:
        touching, crossed = (
            simulate(shape, CurveModel.at_the_margin(effects, REACHABLE), STUDIES)
            for effects in (TOUCHING, OVERTAKING)
        )
        of_touching = (touching.values, touching.gains, touching.knees, touching.made_up)
        achieved = (*of_touching, crossed.found, crossed.missed)
        rows.append((str(shape), *map(percent, achieved)))
    return rows


def knees_found() -> list[Row]:
    """How often a knee is reported as a single level, by the noise and the fewest blocks."""
    rows: list[Row] = [("noise of a trial", "blocks [5, 30]", "blocks [15, 30]")]
    for noise in (0.005, 0.01, 0.02, 0.04):
        rates = (
            simulate(
                NoiseShape.NORMAL, CurveModel(EQUAL, rule, last_gain=0.0, noise=noise), STUDIES
            ).single_knee
            for rule in (replace(REACHABLE, min_blocks=fewest) for fewest in (5, 15))
        )
        rows.append((percent(noise), *map(percent, rates)))
    return rows


TABLES = (curve_rates, knees_found)
