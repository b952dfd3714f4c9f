"""Where comparisons stand, look after look: only what a block has changed is judged again."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import (
    ComparisonResult,
    Values,
    compare_configurations,
    compare_on_workload,
    verdict_values,
)
from iostudy.study.model import Study


class InterimAnalysis:
    """The looks at one study whose rows only grow, as those of a ledger do.

    Each look gives what `compare_configurations` gives for the same rows. In a study of thousands
    of trials that takes a tenth of a second, and a block is of one workload of several.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._rows: Sequence[TrialRow] = ()
        self._values: dict[tuple[str, str], Values] = {}
        self._found: dict[str, tuple[ComparisonResult, ...]] = {}

    def at(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """Where every comparison stands, in the study's order."""
        if self._study.design is not None or self._study.search is not None:
            return compare_configurations(self._study, rows)
        seen = len(self._rows)
        if not _begin_alike(self._rows, rows):
            seen, self._values, self._found = 0, {}, {}
        for key, values in verdict_values(self._study, rows[seen:]).items():
            self._values.setdefault(key, {}).update(values)
            self._found.pop(key[0], None)
        self._rows = tuple(rows)
        return tuple(found for each in self._study.workloads for found in self._of(each.label))

    def _of(self, workload: str) -> tuple[ComparisonResult, ...]:
        if workload not in self._found:
            self._found[workload] = compare_on_workload(self._study, workload, self._values)
        return self._found[workload]


def _begin_alike(before: Sequence[TrialRow], rows: Sequence[TrialRow]) -> bool:
    """Whether ``rows`` go on from those before: rows that have ended do not change."""
    last = len(before) - 1
    return not before or (len(rows) > last and rows[last] is before[last])
