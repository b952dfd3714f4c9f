"""Tables of docs/method/calibration.md on split plots."""

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


TABLES = (split_plot_rates,)
