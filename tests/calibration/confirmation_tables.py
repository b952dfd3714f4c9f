"""Table of docs/method/calibration.md on the confirmation of windows by whole trials."""

from __future__ import annotations

import functools
import math

import numpy as np

from iostudy.analysis.paired import Interval
from iostudy.analysis.rule import Rule
from iostudy.analysis.switchback.confirmation import (
    ConfirmationOutcome,
    PairedMean,
    measure_agreement,
)
from iostudy.analysis.verdict import Verdict
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import SEED, carry_out

CONFIRMATIONS = 400
MARGIN = math.log1p(0.05)
_BLOCKS, _WINDOW_SD, _WINDOW_GAIN = 5, 0.1, 0.03
_WINDOWS = Rule(margin=0.01, risk=0.05, min_blocks=20, max_blocks=96)


def confirmation_rates() -> list[Row]:
    """Rates of the outcomes of a confirmation by true difference and noise of a pair of trials."""
    rows: list[Row] = [
        ("true difference", "noise of a pair of trials", *map(str, ConfirmationOutcome))
    ]
    for margins in (0.0, 0.5, 1.0, 2.0, 4.0):
        for sd in (0.01, 0.05):
            found = confirm(margins * MARGIN, sd, CONFIRMATIONS)
            rates = (found.count(each) / len(found) for each in ConfirmationOutcome)
            rows.append((f"{margins:g} margins", f"{100 * sd:g} %", *map(percent, rates)))
    return rows


def confirm(difference: float, sd: float, confirmations: int) -> list[ConfirmationOutcome]:
    """Outcomes of confirmations of windows that showed a gain; trials differ by ``difference``."""
    draw = np.random.default_rng([SEED, round(1e6 * difference), round(1e6 * sd)])
    return [
        measure_agreement(
            _paired(_WINDOW_GAIN + difference + sd * draw.standard_normal(_BLOCKS)),
            windows,
            shown,
            MARGIN,
        ).outcome
        for windows, shown in _select_windows(confirmations)
    ]


@functools.cache
def _select_windows(count: int) -> list[tuple[PairedMean, Interval]]:
    """Studies of windows that were selected because they showed a gain."""
    draw = np.random.default_rng([SEED, 41])
    ratios = _WINDOW_GAIN + _WINDOW_SD * draw.standard_normal((4 * count, _WINDOWS.max_blocks))
    ended = carry_out(ratios, _WINDOWS)
    return [
        (
            _paired(ratios[own, : ended.blocks[own]]),
            Interval(float(ended.low[own]), float(ended.high[own])),
        )
        for own in np.flatnonzero(ended.verdicts == str(Verdict.BETTER))[:count]
    ]


def _paired(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> PairedMean:
    return PairedMean(float(values.mean()), float(values.std(ddof=1)), len(values))


TABLES = (confirmation_rates,)
