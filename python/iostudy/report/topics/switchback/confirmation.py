"""Confirmation of windows by whole trials as values of the report (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from iostudy.analysis.comparison import Comparison
from iostudy.analysis.paired import Interval, PairedRuns, as_fraction, mean_interval
from iostudy.analysis.switchback.confirmation import (
    CONFIDENCE,
    Agreement,
    ConfirmationOutcome,
    PairedMean,
    measure_agreement,
)
from iostudy.ledger.rows import TrialRow
from iostudy.report.base import Span
from iostudy.report.finite import build_span
from iostudy.report.formatting import format_change_interval
from iostudy.report.topics.switchback.values import ConfirmationReport, SwitchbackReport
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.values import Step
from iostudy.results.comparisons import ComparisonResult, collect_figures, decision_rule
from iostudy.results.confirmation import select_confirmations
from iostudy.study.model import Study


def build_confirmations(
    study: Study, compared: Sequence[ComparisonResult], trials: Sequence[TrialRow]
) -> dict[str, dict[str, ConfirmationReport | None]]:
    """Confirm the selected comparisons, by workload and configuration.

    None: a comparison with fewer than two blocks of trials.
    """
    found: dict[str, dict[str, ConfirmationReport | None]] = {}
    selected = select_confirmations(study, compared)
    for result in compared:
        own = result.configuration
        if own in selected.get(result.workload, ()):
            found.setdefault(result.workload, {})[own] = _confirm(study, result, trials)
    return found


def describe_disagreements(reports: Sequence[SwitchbackReport], factor: str = "") -> Iterator[str]:
    """Describe every confirmation that contradicts the windows.

    ``factor`` is the one that varies alone, if any.
    """
    for own in reports:
        for found in own.confirmations:
            if found.outcome is ConfirmationOutcome.DISAGREE:
                name = name_configuration(found.configuration, factor)
                yield (
                    f"Whole trials contradict the windows of {name} on "
                    f"{own.workload}: {format_change_interval(found.change, found.interval)} in "
                    "whole trials, "
                    f"{format_change_interval(found.windows_change, found.windows_interval)} in "
                    "windows. Use whole trials (decide: {mode: trials})."
                )


def suggest_whole_trials(reports: Sequence[SwitchbackReport]) -> Iterator[Step]:
    """Suggest a study of whole trials if a confirmation contradicts the windows."""
    if any(describe_disagreements(reports)):
        yield Step(
            text="Run a new study with decide: {mode: trials}, because whole trials contradict the "
            "windows. Do not follow the other steps before."
        )


def _confirm(
    study: Study, result: ComparisonResult, trials: Sequence[TrialRow]
) -> ConfirmationReport | None:
    values = collect_figures(study, trials)
    base = values.get((result.workload, study.baseline.label), {})
    other = values.get((result.workload, result.configuration), {})
    common = sorted(base.keys() & other.keys())
    windows = result.comparison
    if len(common) < 2 or windows.blocks < 2:
        return None
    ratios = PairedRuns.from_figures(
        [base[block] for block in common],
        [other[block] for block in common],
        higher_is_better=windows.higher_is_better,
    ).differences
    agreement = measure_agreement(
        PairedMean(float(ratios.mean()), float(ratios.std(ddof=1)), len(ratios)),
        PairedMean(windows.estimate, windows.sd, windows.blocks),
        windows.interval,
        decision_rule(study).delta,
    )
    return _report(result.configuration, ratios, windows, agreement)


def _report(
    configuration: str,
    ratios: np.ndarray[tuple[int], np.dtype[np.float64]],
    windows: Comparison,
    found: Agreement,
) -> ConfirmationReport:
    higher = windows.higher_is_better
    sign = 1 if higher else -1
    return ConfirmationReport(
        configuration=configuration,
        blocks=len(ratios),
        change=as_fraction(sign * float(ratios.mean())),
        interval=_span(mean_interval(ratios, 1 - CONFIDENCE), higher=higher),
        windows_change=windows.change,
        windows_interval=build_span(windows.change_interval),
        difference=as_fraction(sign * found.difference),
        difference_interval=_span(Interval(found.low, found.high), higher=higher),
        outcome=found.outcome,
        blocks_needed=found.blocks_needed,
    )


def _span(interval: Interval, *, higher: bool) -> Span:
    """Return an interval of log-ratios as changes of the figure."""
    low, high = (interval if higher else interval.mirrored()).as_fractions()
    return Span(low=low, high=high)
