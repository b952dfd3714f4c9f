"""Tables of docs/method.md on tests of carry-over, and on the confirmation by whole trials."""

from __future__ import annotations

import functools
import math

import numpy as np

from iostudy.analysis.paired import Interval
from iostudy.analysis.rule import Rule
from iostudy.analysis.switchback.carry_over import (
    CarryOverEffect,
    Rounds,
    measure_drift,
    measure_position,
    measure_previous,
    measure_residence,
)
from iostudy.analysis.switchback.confirmation import (
    ConfirmationOutcome,
    PairedMean,
    measure_agreement,
)
from iostudy.analysis.verdict import Verdict
from tests.analysis.switchback.rounds import Effects, simulate
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import SEED, carry_out

STUDIES = 4000
CONFIRMATIONS = 400
LEVEL, MARGIN = 0.05, math.log1p(0.05)
_SIZES = ((2, 20), (2, 200), (4, 20), (4, 60))
_NOISE = {
    0.0: "white",
    0.9: "AR(1), phi 0.9",
    0.99: "AR(1), phi 0.99",
    1.0: "random walk",
}
_BLOCKS, _WINDOW_SD, _WINDOW_GAIN = 5, 0.1, 0.03
_WINDOWS = Rule(margin=0.01, risk=0.05, min_blocks=20, max_blocks=96)


def carry_over_rates() -> list[Row]:
    """Rates of the tests of carry-over and drift without an effect."""
    heads = ("position", "previous", "residence", "drift", "any flag")
    rows: list[Row] = [("configurations", "rounds", "slow noise", *heads)]
    for configurations, rounds in _SIZES:
        for phi, noise in _NOISE.items():
            rates = _rates(configurations, rounds, phi)
            rows.append((str(configurations), str(rounds), noise, *map(percent, rates)))
    return rows


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


def _rates(configurations: int, rounds: int, phi: float) -> list[float]:
    """The share of studies with p < LEVEL of each effect, and with any flag."""
    draw = np.random.default_rng([SEED, configurations, rounds, round(100 * phi)])
    effects = Effects(tuple(0.1 * np.arange(configurations)))
    found = [_tests(simulate(draw, rounds, effects, phi=phi)) for _ in range(STUDIES)]
    significant = np.array([[own is not None and own.p < LEVEL for own in each] for each in found])
    flagged = [
        any(own is not None and own.is_flagged(LEVEL / 4, MARGIN / 4) for own in each)
        for each in found
    ]
    return [*map(float, significant.mean(axis=0)), float(np.mean(flagged))]


def _tests(rounds: Rounds) -> tuple[CarryOverEffect | None, ...]:
    """All tests; the windows of one configuration are a second later than those of the baseline."""
    drift = measure_drift(rounds, [0.0] * (rounds.logs.shape[1] - 1) + [1.0])
    return (
        measure_position(rounds),
        measure_previous(rounds),
        measure_residence(rounds),
        drift.bias if drift else None,
    )


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


TABLES = (carry_over_rates, confirmation_rates)
