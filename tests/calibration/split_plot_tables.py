"""Tables of docs/method.md on split plots."""

from __future__ import annotations

from tests.calibration import split_plot
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape, carry_out
from tests.calibration.verdict_tables import OPEN_ENDED, STUDIES


def split_plot_rates() -> list[Row]:
    """False winners where file systems vary, each made anew in every block."""
    rows = [("noise", "of making one", "within one", "across two", "any of 5 wrong")]
    cases = [(NoiseShape.NORMAL, 0), (NoiseShape.NORMAL, 1), *((shape, 3) for shape in NoiseShape)]
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
    anew = split_plot.log_figures(NoiseShape.NORMAL, STUDIES, blocks, times)
    once = split_plot.log_figures(NoiseShape.NORMAL, STUDIES, blocks, times, made_once=True)
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


TABLES = (split_plot_rates, split_plot_mistakes)
