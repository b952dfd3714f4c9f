"""Comparisons of windows that whole trials confirm (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.results.comparisons import ComparisonResult
from iostudy.results.recommendation import recommend
from iostudy.study.model import Study
from iostudy.study.switchback import list_unseen_responses


def select_confirmations(
    study: Study, compared: Sequence[ComparisonResult]
) -> dict[str, tuple[str, ...]]:
    """Return the configurations to confirm by workload; workloads without any are absent.

    These are the recommended configuration on every workload, and each configuration with a
    decided verdict if it or the baseline has a response that windows do not show.
    """
    recommended, found = recommend(study, compared), dict[str, tuple[str, ...]]()
    for result in compared:
        own = result.configuration
        if own == recommended or (_is_decided(result) and find_unseen_responses(study, own)):
            found[result.workload] = (*found.get(result.workload, ()), own)
    return found


def find_unseen_responses(study: Study, label: str) -> tuple[str, ...]:
    """Return the responses that windows of a comparison do not show, those of the baseline too."""
    compared = (own for own in study.configurations() if own.label in (study.baseline.label, label))
    return tuple(dict.fromkeys(each for own in compared for each in list_unseen_responses(own)))


def _is_decided(result: ComparisonResult) -> bool:
    return result.comparison.verdict.is_final
