"""Print the tables of docs/method.md: ``python -m tests.calibration.table``."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import stats

from iostudy.analysis.noise import reachable_margin
from iostudy.analysis.sequential import repeated_alpha
from iostudy.analysis.verdict import Rule, Verdict
from tests.calibration import split_plot
from tests.calibration.ranked import STAIRCASE, Design, simulate
from tests.calibration.simulation import (
    NOISE,
    SEED,
    Shape,
    carry_out,
    families,
    lopsided,
    noise,
    pairs,
)

STUDIES = 40_000
RANKED = 2000
OPEN_ENDED = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30)
REACHABLE = Rule(margin=0.05, risk=0.05, min_blocks=5, max_blocks=30)
FAMILY = Rule(margin=0.005, risk=0.05, min_blocks=5, max_blocks=30, comparisons=6)

Row = tuple[str, ...]


def percent(share: float) -> str:
    """A share with the two decimals that the simulation supports."""
    return f"{100 * share:.2f} %"


def levels() -> list[Row]:
    """a* for common studies: alone, and as one of 6 and of 24 comparisons."""
    rows = [("most blocks", "1 comparison", "6 comparisons", "24 comparisons")]
    for most in (5, 10, 15, 20, 30, 40, 60):
        shared = (repeated_alpha(5, most, 0.05 / m) for m in (1, 6, 24))
        rows.append(
            (str(most), *(f"{level:.2g}" if level < 1e-3 else f"{level:.4f}" for level in shared))
        )
    return rows


def rates() -> list[Row]:
    """Achieved rates under every shape of noise."""
    rows = [("noise", "false winner", "false equivalent", "interval misses", "any of 6 wrong")]
    for shape in Shape:
        at_margin = pairs(shape, REACHABLE, STUDIES, difference=REACHABLE.delta)
        family = families(shape, FAMILY, STUDIES // 4, configurations=4, workloads=2)
        beyond = carry_out(pairs(shape, REACHABLE, STUDIES, difference=0.02), REACHABLE)
        achieved = (
            carry_out(pairs(shape, OPEN_ENDED, STUDIES), OPEN_ENDED).wrong,
            carry_out(at_margin, REACHABLE).share(Verdict.EQUIVALENT),
            1 - beyond.covering(0.02),
            float(family.mean()),
        )
        rows.append((str(shape), *map(percent, achieved)))
    return rows


def usual_ways() -> list[Row]:
    """How often the ways this program avoids name a winner between equal configurations."""
    draw = np.random.default_rng([SEED, 4])
    rows = [("way", "false winner")]
    for shape in (Shape.NORMAL, Shape.AR1, Shape.DRIFT):
        series = noise(shape, draw, STUDIES, 60)
        found = stats.ttest_ind(series[:, :30], series[:, 30:], axis=1).pvalue < 0.05
        rows.append((f"30 runs of A, then 30 of B; {shape}", percent(float(found.mean()))))
    differences = noise(Shape.NORMAL, draw, STUDIES, 20)
    looks = [stats.ttest_1samp(differences[:, :n], 0, axis=1).pvalue < 0.05 for n in range(5, 21)]
    found = np.any(looks, axis=0)
    rows.append(
        ("5 to 20 pairs, stopping at the first p < 0.05; normal", percent(float(found.mean())))
    )
    return rows


def power() -> list[Row]:
    """How often the reachable difference is found, and after how many blocks on average."""
    rows = [("most blocks", "reachable difference", "found", "blocks on average")]
    for most in (10, 30, 60):
        rule = Rule(margin=1e-9, risk=0.05, min_blocks=5, max_blocks=most)
        margin = reachable_margin(NOISE * math.sqrt(2), rule)
        ratios = pairs(Shape.NORMAL, rule, STUDIES, difference=math.log1p(margin))
        outcomes = carry_out(ratios, rule)
        found = percent(outcomes.share(Verdict.BETTER))
        rows.append((str(most), percent(margin), found, f"{outcomes.blocks.mean():.1f}"))
    return rows


def markdown(rows: list[Row]) -> str:
    """A markdown table whose first row is the head."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body, ""])


def lopsided_rates() -> list[Row]:
    """False winners where one configuration is noisy, the other quiet, and their means equal."""
    rows = [("noise of one side", "first look at 5 blocks", "first look at 10 blocks")]
    rules = [replace(OPEN_ENDED, min_blocks=fewest) for fewest in (5, 10)]
    for shape in (Shape.NORMAL, Shape.SPIKES, Shape.LOG_NORMAL):
        wrong = [carry_out(lopsided(shape, rule, STUDIES), rule).wrong for rule in rules]
        rows.append((str(shape), *map(percent, wrong)))
    return rows


def split_plot_rates() -> list[Row]:
    """False winners where file systems vary, each made anew in every block."""
    rows = [("noise", "of making one", "within one", "across two", "any of 5 wrong")]
    cases = [(Shape.NORMAL, 0), (Shape.NORMAL, 1), *((shape, 3) for shape in Shape)]
    for shape, times in cases:
        figures = split_plot.log_figures(shape, STUDIES, OPEN_ENDED.max_blocks, times)
        achieved = (
            carry_out(split_plot.ratios(figures, split_plot.WITHIN), OPEN_ENDED).wrong,
            carry_out(split_plot.ratios(figures, split_plot.ACROSS), OPEN_ENDED).wrong,
            float(split_plot.any_wrong(figures[: STUDIES // 4], split_plot.FAMILY).mean()),
        )
        rows.append((str(shape), f"{times} x that of a trial", *map(percent, achieved)))
    return rows


def split_plot_mistakes() -> list[Row]:
    """How often other ways with the same file systems name a winner, within and across."""
    blocks, times = OPEN_ENDED.max_blocks, 3
    risk = OPEN_ENDED.risk
    pair = (split_plot.WITHIN, split_plot.ACROSS)
    anew = split_plot.log_figures(Shape.NORMAL, STUDIES, blocks, times)
    once = split_plot.log_figures(Shape.NORMAL, STUDIES, blocks, times, made_once=True)
    ways = {
        "made anew in every block, pairs of each comparison": [
            carry_out(split_plot.ratios(anew, other), OPEN_ENDED).wrong for other in pair
        ],
        "made once for the study, pairs of each comparison": [
            carry_out(split_plot.ratios(once, other), OPEN_ENDED).wrong for other in pair
        ],
        "made anew, the error of runs for all": [
            split_plot.wrong_by_error_of_runs(anew, other, risk) for other in pair
        ],
        "made anew, the error of file systems for all": [
            split_plot.wrong_by_error_of_formats(anew, other, risk) for other in pair
        ],
    }
    head = ("way", "within one file system", "across two")
    return [head, *((way, *map(percent, rates)) for way, rates in ways.items())]


def ranking_rates() -> list[Row]:
    """Rankings of four configurations, all equal or a staircase, on one workload and on nine."""
    heads = ("noise", "workloads", "equal: any wrong", "staircase: any wrong")
    rows: list[Row] = [(*heads, "ranks missed", "interval missed")]
    for shape in Shape:
        for workloads in (1, 2, 9):
            equal, stairs = (
                simulate(shape, Design.alike(effects, workloads, OPEN_ENDED), RANKED)
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
            Design.alike((0.0, 0.06), workloads, replace(OPEN_ENDED, max_blocks=most))
            for most in (30, 60)
        )
        missed = (simulate(Shape.NORMAL, design, RANKED // 2).missed for design in designs)
        rows.append((str(workloads), *map(percent, missed)))
    return rows


TABLES: tuple[Callable[[], list[Row]], ...] = (
    usual_ways,
    levels,
    rates,
    power,
    lopsided_rates,
    split_plot_rates,
    split_plot_mistakes,
    ranking_rates,
    ranking_sizes,
)


def main() -> None:
    """Print every table."""
    sys.stdout.write("\n".join(markdown(table()) for table in TABLES))


if __name__ == "__main__":
    main()
