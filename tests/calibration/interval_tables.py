"""Table of docs/method/calibration.md on shown intervals for differences near the margin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iostudy.analysis.rule import Rule
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import SEED, NoiseShape, carry_out, noise
from tests.calibration.verdict_tables import STUDIES

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
RANGES = {
    "[5, 30]": RULE,
    "[20, 30]": replace(RULE, min_blocks=20),
    "[30, 30]": replace(RULE, min_blocks=30),
}
SPREADS = (0.02, 0.04, 0.06, 0.08)
"""Standard deviations of a paired log-ratio."""
PARTS = {"0": 0.0, "1/3": 1 / 3, "0.9": 0.9, "0.99": 0.99, "1": 1.0, "1.2": 1.2}
"""True differences, in units of the margin (of log-ratios)."""


def missed(rule: Rule, spread: float, part: float, studies: int) -> float:
    """The share of studies whose interval at the end does not contain the true difference."""
    draw = np.random.default_rng([SEED, 31])
    drawn = spread * noise(NoiseShape.NORMAL, draw, studies, rule.max_blocks)
    truth = part * rule.delta
    return 1 - carry_out(drawn + truth, rule).covering(truth)


def intervals_near_margin() -> list[Row]:
    """How often the shown interval misses, by the true difference in units of the margin."""
    rows: list[Row] = [("blocks", "sd of a pair", *(f"{name} margin" for name in PARTS))]
    for name, rule in RANGES.items():
        for spread in SPREADS:
            rates = (missed(rule, spread, part, STUDIES) for part in PARTS.values())
            rows.append((name, f"{100 * spread:.0f} %", *map(percent, rates)))
    return rows


TABLES = (intervals_near_margin,)
