"""Table of docs/method.md on unequal noise of two configurations under slow noise."""

from __future__ import annotations

from iostudy.analysis.rule import Rule
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape
from tests.calibration.unequal_slow import Inequality, find_winners, find_winners_by_feeling

TRIALS = Rule(margin=1e-6, risk=0.05, min_blocks=5, max_blocks=30)
WINDOWS = Rule(margin=1e-6, risk=0.05, min_blocks=10, max_blocks=96)
STUDIES, EXAMINED, FELT_STUDIES = 10_000, 500, 400
SHARES = {"all": 1.0, "half": 0.5, "none": 0.0}
"""Shares of the slow noise in the second configuration."""


def unequal_slow_rates() -> list[Row]:
    """False winners of two configurations with unequal noise, and how many have a flag."""
    rows: list[Row] = [
        (
            "own noise of one side",
            "of the other",
            "of the slow noise",
            "30 blocks, phi 0.9",
            "of these flagged",
            "96 blocks, phi 0.99",
            "of these flagged",
        )
    ]
    for shape in (NoiseShape.NORMAL, NoiseShape.SPIKES, NoiseShape.LOG_NORMAL):
        for quiet, name in ((0.25, "a quarter"), (0.0, "none")):
            for share, passed in SHARES.items():
                own = Inequality(shape, quiet, passed)
                found = [
                    find_winners(own, rule, phi, STUDIES, EXAMINED)
                    for rule, phi in ((TRIALS, 0.9), (WINDOWS, 0.99))
                ]
                rates = (percent(rate) for each in found for rate in (each.wrong, each.flagged))
                rows.append((str(shape), name, share, *rates))
    return rows


def felt_unequally() -> list[Row]:
    """False winners where one feels slow noise more strongly, in one study and in six sessions."""
    rows: list[Row] = [
        ("felt by the other", "one study", "of these flagged", "ratio reported", "six sessions")
    ]
    for times in (1.0, 1.1, 1.2):
        found = find_winners_by_feeling(times, TRIALS, FELT_STUDIES, sessions=6, most=EXAMINED)
        rates = (percent(found.study), percent(found.flagged))
        rows.append((f"{times:g} times", *rates, f"{found.ratio:.2f}", percent(found.sessions)))
    return rows


TABLES = (unequal_slow_rates, felt_unequally)
