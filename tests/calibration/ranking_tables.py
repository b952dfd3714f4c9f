"""Tables of docs/method/calibration.md on rankings."""

from __future__ import annotations

from dataclasses import replace

from tests.calibration.ranked import STAIRCASE, Design, simulate, simulate_gate
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape
from tests.calibration.verdict_tables import OPEN_ENDED, REACHABLE

STUDIES, GATE_STUDIES = 400, 2000


def ranking_rates() -> list[Row]:
    """Rankings of four configurations, all equal or a staircase, on several workloads."""
    heads = ("noise", "workloads", "equal: any wrong", "staircase: any wrong")
    rows: list[Row] = [(*heads, "ranks missed", "interval missed")]
    cases = [(NoiseShape.NORMAL, 1), *((shape, 2) for shape in NoiseShape), (NoiseShape.NORMAL, 9)]
    for shape, workloads in cases:
        equal, stairs = (
            simulate(shape, Design.uniform(effects, workloads, OPEN_ENDED), STUDIES)
            for effects in ((0.0,) * 4, STAIRCASE)
        )
        achieved = (equal.wrong, stairs.wrong, stairs.uncovered, stairs.missed)
        rows.append((str(shape), str(workloads), *map(percent, achieved)))
    return rows


def ranking_sizes() -> list[Row]:
    """The combined difference of two configurations on more and more workloads."""
    rows: list[Row] = [("workloads", "interval missed, 30 blocks", "interval missed, 60 blocks")]
    for workloads in (2, 9, 20):
        designs = (
            Design.uniform((0.0, 0.06), workloads, replace(OPEN_ENDED, max_blocks=most))
            for most in (30, 60)
        )
        missed = (simulate(NoiseShape.NORMAL, design, STUDIES).missed for design in designs)
        rows.append((str(workloads), *map(percent, missed)))
    return rows


GATES = {
    "all are equal": (0.0,) * 4,
    "one is a margin better": (0.0, REACHABLE.delta, 0.0, 0.0),
    "two are a margin better": (0.0, REACHABLE.delta, REACHABLE.delta, 0.0),
    "all others are a margin better": (0.0, *(REACHABLE.delta,) * 3),
}
"""Effects of four configurations, the first of which is the baseline."""


def gate_rates() -> list[Row]:
    """Orders on each of two workloads, with false equivalences at exactly the margin."""
    rows: list[Row] = [("configurations", "any wrong rank", "any wrong verdict")]
    for name, effects in GATES.items():
        rates = simulate_gate(Design.uniform(effects, 2, REACHABLE), GATE_STUDIES)
        rows.append((name, *map(percent, rates)))
    return rows


TABLES = (ranking_rates, ranking_sizes, gate_rates)
