"""Provenance of a kept configuration: its verdicts and the study, for the head of each file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from iostudy.analysis.verdict import Comparison
from iostudy.ledger.rows import StudyRow
from iostudy.results.change_text import format_relative_interval
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.recommendation import is_better
from iostudy.study.model import Study


def is_proven(own: Iterable[ComparisonResult]) -> bool:
    """Return whether a configuration is better in a workload and worse in none.

    ``own`` are its comparisons with the baseline.
    """
    return is_better([result.comparison.verdict for result in own])


def describe_provenance(
    study: Study, row: StudyRow, own: Sequence[ComparisonResult]
) -> tuple[str, ...]:
    """Return a line with the conclusion, one for each workload, and the study."""
    host = row.circumstances.get("host", {})
    name = host.get("hostname") or "unknown"
    kernel = f"kernel {(host.get('kernel') or {}).get('release') or 'unknown'}"
    date = datetime.fromtimestamp(row.started_at, UTC).strftime("%Y-%m-%d")
    return (
        _conclude(study, own),
        *_describe_verdicts(own),
        f"Study {study.name} of {date}, host {name}, {kernel}, iostudy {row.iostudy_version}.",
    )


def _conclude(study: Study, own: Sequence[ComparisonResult]) -> str:
    baseline = study.baseline.label
    if is_proven(own):
        return f"Verdict: better than the baseline {baseline} in a workload, worse in none."
    return f"UNPROVEN: the study did not show it to be better than the baseline {baseline}."


def _describe_verdicts(own: Iterable[ComparisonResult]) -> Iterator[str]:
    for result in own:
        comparison = result.comparison
        verdict = comparison.verdict.value if comparison.verdict else "no verdict"
        blocks = f"{comparison.blocks} blocks"
        yield f"{result.workload}: {verdict}, {result.figure.name} {_change(comparison)}, {blocks}."


def _change(comparison: Comparison) -> str:
    """The relative change of the figure with its interval: ``+12.0 % [+9.1, +15.0]``."""
    low, high = comparison.change_interval
    if not (math.isfinite(low) and math.isfinite(high)):
        return "unknown"
    return format_relative_interval(comparison.change, low, high)
