"""Table of docs/method.md on verdicts of windows under responses to switches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.calibration.response_studies import (
    MARGIN,
    SECONDS,
    Noise,
    SimulatedLevel,
    is_wrong,
    simulate_study,
)
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import SEED

STUDIES = 400
SHORT_SECONDS = 45.0
"""Longest time of windows in a short study."""
QUIET, LOUD = Noise(0.03, 0.01), Noise()
DELTA = math.log1p(MARGIN)
CASES = {
    "none": SimulatedLevel(),
    "0.2 s, declared 0.25 s": SimulatedLevel(start=0.7, constant=0.2, declared=0.25),
    "1.5 s, declared 1.5 s": SimulatedLevel(start=0.7, constant=1.5, declared=1.5),
    "1.5 s, declared 1.5 s, final rate 5 % higher": SimulatedLevel(DELTA, 0.93, 1.5, declared=1.5),
    "5 s, declared 5 s": SimulatedLevel(start=0.7, constant=5.0, declared=5.0),
    "none, 8 times the noise of the baseline": SimulatedLevel(white=0.8),
    "2 s, declared 0.25 s": SimulatedLevel(start=0.7, constant=2.0, declared=0.25),
    "5 s, declared 1.5 s": SimulatedLevel(start=0.7, constant=5.0, declared=1.5),
    "5 s, declared 0.02 s": SimulatedLevel(start=0.7, constant=5.0),
    "2 s, declared 0.25 s, 7 % slower": SimulatedLevel(start=0.93, constant=2.0, declared=0.25),
    "0.2 s, declared 0.02 s": SimulatedLevel(start=0.7, constant=0.2),
}
"""Levels that are compared with a baseline without a response."""
_UNDECLARED = 5
DECLARED = tuple(CASES)[:-_UNDECLARED]
"""Cases whose time constants are at most the declared ones."""
SLOW = tuple(CASES)[-_UNDECLARED:-2]
"""Cases with a response of 30 % that takes seconds."""


@dataclass(frozen=True)
class Rates:
    """Shares of studies with a wrong verdict and without windows.

    ``added`` is the mean time of long stays of the studies with windows, as a fraction of the mean
    time of the rest; None without any such study.
    """

    wrong: float
    trials: float
    added: float | None


def response_rates() -> list[Row]:
    """Rates of wrong verdicts and of whole trials by response and noise."""
    return _tabulate(SECONDS)


def short_response_rates() -> list[Row]:
    """The same rates of short studies."""
    return _tabulate(SHORT_SECONDS)


def _tabulate(seconds: float) -> list[Row]:
    columns = ("wrong", "trials", "added time")
    heads = [f"{which}, {what}" for which in ("quiet", "loud") for what in columns]
    rows: list[Row] = [("response of the other configuration", *heads)]
    for name in CASES:
        found = [rates_of(name, noise, STUDIES, seconds) for noise in (QUIET, LOUD)]
        rows.append((name, *(cell for own in found for cell in _format(own))))
    return rows


def rates_of(name: str, noise: Noise, studies: int, seconds: float = SECONDS) -> Rates:
    """Simulate studies of a case. Windows take at most ``seconds``."""
    level, draw = CASES[name], np.random.default_rng([SEED, 31, list(CASES).index(name)])
    levels = SimulatedLevel(), level
    found = [simulate_study(draw, levels, noise, seconds) for _ in range(studies)]
    wrong = [is_wrong(verdict, level.rate) for own in found for verdict in own.verdicts]
    windows = [own for own in found if own.plan is not None]
    seconds = sum(own.seconds for own in windows)
    return Rates(
        sum(wrong) / studies,
        1 - len(windows) / studies,
        sum(own.stay_seconds for own in windows) / seconds if windows else None,
    )


def _format(rates: Rates) -> tuple[str, str, str]:
    added = "-" if rates.added is None else f"{100 * rates.added:.0f} %"
    return percent(rates.wrong), percent(rates.trials), added


TABLES = (response_rates, short_response_rates)
