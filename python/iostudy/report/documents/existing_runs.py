"""Comparison of runs that exist already: values and document (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.rule import Rule
from iostudy.analysis.unpaired import compare_samples
from iostudy.report.base import DifferenceReport, Value, declare_schema
from iostudy.report.formatting import (
    format_change_interval,
    format_count,
    format_figure,
    join_words,
)
from iostudy.report.section import Document, Section, make_table
from iostudy.units import format_percent
from iostudy.workloads.definition import Figure

_FEWEST = 2
"""Runs of each side that give an interval."""
UNPAIRED_NOTE = (
    "The runs were not paired, and nobody drew their order. A change of the host, of the disk's "
    "state or of the load between the two sets is part of every change, and of no interval. "
    "`iostudy try` runs both in random order."
)


class RunsMean(Value):
    """The runs of one side."""

    value: FiniteFloat | None
    """Geometric mean, in the figure's unit; null without a run."""
    runs: int
    """Number of runs."""


class FigureComparison(DifferenceReport):
    """Comparison of one figure of the second set of runs with the first.

    Fewer than two runs of either set have no interval, nor have a few equal values.
    """

    figure: Figure
    """The compared figure."""
    first: RunsMean
    """Mean of the first set."""
    second: RunsMean
    """Mean of the second set."""


class RunsComparison(Value):
    """Comparison of two sets of runs that exist already."""

    schema_name: Literal["iostudy.runs/1"] = declare_schema("iostudy.runs/1")
    first: str
    """The first set of runs, as given."""
    second: str
    """The second set of runs, as given."""
    margin: FiniteFloat
    """Equivalence margin, as a fraction."""
    risk: FiniteFloat
    """Probability of any wrong verdict, as a fraction, if the sets differ by their figure alone."""
    compared: tuple[FigureComparison, ...]
    """Comparisons by figure."""
    differences: tuple[str, ...]
    """Other differences between the runs, also within a set: parameters, jobs, errors and versions
    of fio, and figures that one set alone has."""


@dataclass(frozen=True)
class FigureRuns:
    """The positive values of one figure in both sets."""

    figure: Figure
    first: Sequence[float]
    second: Sequence[float]


def build_runs_comparison(
    places: tuple[str, str],
    figures: Sequence[FigureRuns],
    margin: float,
    risk: float,
    differences: Sequence[str] = (),
) -> RunsComparison:
    """Compare each figure; the figures share the risk."""
    rule = Rule(margin, risk, _FEWEST, _FEWEST, comparisons=len(figures))
    compared = []
    for runs in figures:
        sides = [np.log(np.asarray(values)) for values in (runs.first, runs.second)]
        first, second = (
            RunsMean(value=float(np.exp(logs.mean())) if len(logs) else None, runs=len(logs))
            for logs in sides
        )
        comparison = compare_samples(
            *sides, higher_is_better=runs.figure.higher_is_better, rule=rule
        )
        report = FigureComparison.copy_from(
            comparison,
            figure=runs.figure,
            first=first,
            second=second,
            interval=comparison.change_interval,
        )
        compared.append(report)
    return RunsComparison(
        first=places[0],
        second=places[1],
        margin=margin,
        risk=risk,
        compared=tuple(compared),
        differences=tuple(differences),
    )


def build_runs_document(comparison: RunsComparison) -> Document:
    """Verdicts, what they cannot exclude, and differences of parameters."""
    table = make_table(
        {
            "figure": result.figure.name,
            "verdict": result.says,
            "change": format_change_interval(result.change, result.interval),
            "before": f"{format_figure(result.first.value)} {result.figure.unit}".strip(),
            "after": f"{format_figure(result.second.value)} {result.figure.unit}".strip(),
            "runs": f"{result.first.runs} and {result.second.runs}",
        }
        for result in comparison.compared
    )
    margin, risk = format_percent(comparison.margin), format_percent(comparison.risk)
    figures = [result.figure for result in comparison.compared]
    verdicts = format_count(len(figures), "verdict")
    together = f" for {verdicts} together" if len(figures) > 1 else ""
    better = "; ".join(
        f"{'higher' if is_higher else 'lower'} is better for {join_words(names)}"
        for is_higher in (True, False)
        if (names := [figure.name for figure in figures if figure.higher_is_better is is_higher])
    )
    note = (
        f"{better[0].upper()}{better[1:]}. Means are geometric. Intervals are Welch's of the "
        f"logarithms, analysed once; margin {margin}, and a risk of {risk}{together}."
    )
    unknown = [result for result in comparison.compared if result.interval is None]
    single = [min(result.first.runs, result.second.runs) < _FEWEST for result in unknown]
    notes = [note]
    if any(single):
        notes.append("A single run has no interval and decides nothing: repeat it.")
    if not all(single):
        equal = "A few equal values have no interval and decide nothing"
        notes.append(f"{equal}: give more runs, or values of more digits.")
    title = f"{comparison.second} compared with {comparison.first}"
    sections = [Section("compared", title, notes, tables=(table,))]
    if comparison.differences:
        differences = make_table(
            {"difference": difference} for difference in comparison.differences
        )
        sections.append(Section("differences", "Other differences", tables=(differences,)))
    title = f"{comparison.first} and {comparison.second}"
    return Document(title, (UNPAIRED_NOTE,), tuple(sections))
