"""Table of docs/method.md on hundreds of blocks with slow noise."""

from __future__ import annotations

from dataclasses import replace

from iostudy.analysis.rule import Rule
from tests.calibration.rows import Row, percent
from tests.calibration.switchback import SlowShape, any_winner

RULE = Rule(margin=1e-6, risk=0.05, min_blocks=10, max_blocks=96)
FAMILY = replace(RULE, comparisons=3)
STUDIES = 10_000


def slow_noise_rates() -> list[Row]:
    """Wrong verdicts on equal configurations under slow noise."""
    rows: list[Row] = [("noise", "of a window alone", "2 configurations", "4 configurations")]
    for shape in SlowShape:
        for own in (0.0, 1.0):
            wrong = (any_winner(shape, rule, STUDIES, own=own).mean() for rule in (RULE, FAMILY))
            rows.append((str(shape), f"{own:g} sd", *map(percent, map(float, wrong))))
    return rows


TABLES = (slow_noise_rates,)
