"""Comparisons of windows that whole trials confirm (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.results.comparisons import ComparisonResult
from iostudy.results.recommendation import recommend
from iostudy.study.model import Study


def select_confirmations(
    study: Study, compared: Sequence[ComparisonResult]
) -> dict[str, tuple[str, ...]]:
    """Return the recommended configuration on every workload; empty without any."""
    recommended = recommend(study, compared)
    if recommended is None:
        return {}
    return {own.workload: (recommended,) for own in compared if own.configuration == recommended}
