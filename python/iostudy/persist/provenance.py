"""Provenance of a kept configuration: its verdicts and the study, for the head of each file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from iostudy.analysis.comparison import Comparison
from iostudy.ledger.rows import StudyRow
from iostudy.results.change_text import format_relative_interval
from iostudy.results.comparisons import ComparisonResult, exclude_guards
from iostudy.results.recommendation import meets_goal
from iostudy.study.model import Study
from iostudy.units import format_percent


def describe_provenance(
    study: Study, row: StudyRow, results: Sequence[ComparisonResult]
) -> tuple[str, ...]:
    """Return a line with the conclusion, one for each workload, and the study."""
    host = row.circumstances.get("host", {})
    name = host.get("hostname") or "unknown"
    kernel = f"kernel {(host.get('kernel') or {}).get('release') or 'unknown'}"
    date = datetime.fromtimestamp(row.started_at, UTC).strftime("%Y-%m-%d")
    return (
        _conclude(study, results),
        *_describe_verdicts(results),
        f"Study {study.name} of {date}, host {name}, {kernel}, iostudy {row.iostudy_version}.",
    )


def _conclude(study: Study, results: Sequence[ComparisonResult]) -> str:
    baseline = study.baseline.label
    if meets_goal(study, results):
        better = [result.workload for result in exclude_guards(results) if result.meets_better]
        where = " and ".join(label for label in better if label in study.goal.better)
        guards = [label for label in study.goal.not_worse or () if label not in better]
        margin = format_percent(study.decide.margin)
        guards += [result.title for result in results if result.is_guard]
        guarded = f", not worse by {margin} on {', '.join(guards)}" if guards else ""
        return f"Verdict: better than the baseline {baseline} on {where}{guarded}."
    return (
        f"UNPROVEN: the study did not show it to be better than the baseline {baseline} on a "
        "workload of its goal, and not worse on the others."
    )


def _describe_verdicts(results: Iterable[ComparisonResult]) -> Iterator[str]:
    for result in results:
        comparison = result.comparison
        verdict = comparison.verdict.value if comparison.verdict else "no verdict"
        blocks = f"{comparison.blocks} blocks"
        yield f"{result.title}: {verdict}, {result.figure.name} {_change(comparison)}, {blocks}."


def _change(comparison: Comparison) -> str:
    """The relative change of the figure with its interval: ``+12.0 % [+9.1, +15.0]``."""
    low, high = comparison.change_interval
    if not (math.isfinite(low) and math.isfinite(high)):
        return "unknown"
    return format_relative_interval(comparison.change, low, high)
