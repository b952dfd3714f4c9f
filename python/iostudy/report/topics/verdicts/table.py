"""Table of the verdicts on a workload."""

from __future__ import annotations

from iostudy.report.formatting import format_against
from iostudy.report.text_table import TextTable
from iostudy.report.topics.verdicts.figure_verdicts import FigureVerdicts
from iostudy.report.topics.verdicts.text import (
    choose_verdict_symbol,
    format_blocks,
    format_change,
    format_slow_runs,
    format_value,
    format_verdict,
)
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import Report


def build_verdict_table(verdicts: FigureVerdicts, report: Report) -> TextTable:
    """Configuration, figure, change with its interval, verdict, blocks and slow runs."""
    figure = verdicts.figure
    better = "higher" if figure.higher_is_better else "lower"
    heads = (
        report.noun,
        "verdict",
        figure.unit,
        format_against(report.baseline),
        "blocks",
        "slow runs",
    )
    title = f"{verdicts.workload}: {figure.name}, {better} is better"
    return TextTable(title, heads, [_row(result) for result in verdicts.results], names=2)


def _row(result: Result) -> tuple[str, ...]:
    verdict = f"{choose_verdict_symbol(result.verdict)} {format_verdict(result)}".strip()
    return (
        result.configuration,
        verdict,
        format_value(result),
        "" if result.baseline else format_change(result),
        format_blocks(result),
        format_slow_runs(result),
    )
