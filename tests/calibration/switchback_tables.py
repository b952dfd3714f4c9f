"""Table of docs/method/calibration.md on the error rates of windows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iostudy.analysis.verdict import Verdict
from tests.calibration.rows import Row, percent
from tests.calibration.switchback import DELTA, FINAL, Level, Study, WindowNoise, simulate

STUDIES = 2000
SLOW = Level(amplitude=-0.3, seconds=0.25)
"""A level that needs a quarter of a second, and declares that it settles at once."""
EQUAL: Mapping[str, Study] = {
    **{f"{noise}": Study((Level(),) * 2, noise) for noise in WindowNoise},
    "five levels, white": Study((Level(),) * 5),
    "a response within the declaration": Study((Level(), Level(amplitude=-0.3, seconds=0.005))),
}
"""Studies of equal levels, by what is simulated."""
UNDECLARED: Mapping[str, Study] = {
    "an undeclared response of 30 %, 20 ms": Study((Level(), Level(0.0, -0.3, 0.02))),
    "an undeclared response of 30 %, 250 ms": Study((Level(), SLOW)),
    "one of five levels with it": Study((*(Level(),) * 4, SLOW)),
}


def winners(study: Study, studies: int) -> tuple[float, float]:
    """Return the shares of studies with any winner that count, and of those found unsettled."""
    ends = simulate(study, studies)
    wrong = np.isin(ends.words, FINAL).any(axis=1) & ~ends.unsettled
    return float(wrong.mean()), float(ends.unsettled.mean())


def false_equivalence(noise: WindowNoise, studies: int) -> float:
    """Return the share of studies that call a difference of exactly the margin equivalent."""
    ends = simulate(Study((Level(), Level(DELTA)), noise), studies)
    return float(((ends.words == str(Verdict.EQUIVALENT)).any(axis=1) & ~ends.unsettled).mean())


def window_rates() -> list[Row]:
    """Wrong verdicts of windows, and studies that whole trials have to decide."""
    rows: list[Row] = [("simulated", "false winners", "false equivalence", "unsettled")]
    for name, study in (EQUAL | UNDECLARED).items():
        wrong, unsettled = winners(study, STUDIES)
        alone = name in list(WindowNoise)
        equal = percent(false_equivalence(WindowNoise(name), STUDIES)) if alone else ""
        rows.append((name, percent(wrong), equal, percent(unsettled)))
    return rows


TABLES = (window_rates,)
