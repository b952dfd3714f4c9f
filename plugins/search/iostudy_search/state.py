"""State of a search: the next block from candidates and ledger rows (pure).

A round is one block of every workload, with the default and the racing candidates. The rounds
before it determine the racing candidates. They are therefore the same for all blocks of a round,
also after a resumption.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from iostudy.ledger.rows import MeasuredRow, TrialRow
from iostudy.results.comparisons import BlockFigures, ComparisonResult, collect_figures
from iostudy.results.power import PowerBasis
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy_search.candidates import name_points
from iostudy_search.confirmation import preview_confirmation
from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy
from iostudy_search.optimizer.propose import propose
from iostudy_search.optimizer.race import Race, run_race
from iostudy_search.search import (
    DEFAULT,
    SLOTS,
    Candidate,
    Search,
    SearchOutcome,
    TimeBudget,
    TrialBudget,
    require_search,
)

MAX_REFUSED_PER_ROUND = 20
"""Refused candidates of a round after which a search considers its space exhausted."""


_FIRST_PER_PARAMETER = 3
"""Points of the initial Latin hypercube for each parameter."""


def compare_nothing(_: Study, __: Iterable[MeasuredRow]) -> tuple[ComparisonResult, ...]:
    """Return no comparisons: a search selects its winner by the same data."""
    return ()


def find_power_basis(study: Study) -> PowerBasis:
    """Return the confirmation, whose comparisons give the verdict."""
    explanation = (
        "All figures are those of the search's confirmation, which gives the verdict; the "
        f"search before it takes {require_search(study).budget}."
    )
    return PowerBasis(preview_confirmation(study), explanation=explanation)


def build_policy(search: Search, weights: tuple[float, ...] = ()) -> SearchPolicy:
    """Build the policy of a search; ``weights`` are those of the workloads, in their order."""
    return SearchPolicy(
        first=_FIRST_PER_PARAMETER * len(search.space.parameters),
        slots=SLOTS,
        worst=None if search.worst is None else -math.log1p(search.worst),
        weights=weights,
    )


@dataclass(frozen=True)
class BudgetUse:
    """The budget that trials have used.

    Trials that do not count use none, so that a disturbance does not affect the search.
    """

    trials: int
    seconds: float

    @classmethod
    def from_rows(cls, rows: Iterable[TrialRow]) -> BudgetUse:
        """Sum the phases that the ledger records for each counted trial."""
        used = [row for row in rows if row.counts]
        return cls(len(used), math.fsum(s for row in used for s in (row.phases or {}).values()))


@dataclass(frozen=True)
class SearchState:
    """The state of a search. ``study`` is the searching study."""

    study: Study
    seed: int
    candidates: tuple[Candidate, ...]
    rows: Sequence[TrialRow]

    @property
    def search(self) -> Search:
        """The search of the study."""
        return require_search(self.study)

    @cached_property
    def round(self) -> int:
        """The number of the first incomplete round, from 1."""
        number = 1
        while all((label, number) in self._complete for label in self._workloads):
            number += 1
        return number

    @cached_property
    def race(self) -> Race:
        """The race after all complete rounds."""
        return run_race(self.candidate_results, self.policy)

    @property
    def racing(self) -> tuple[str, ...]:
        """The candidates of the round that have entered."""
        return tuple(self.candidates[index].label for index in self.race.runs[: self._slots])

    @property
    def incumbent(self) -> int | None:
        """The index of the leading candidate; None if the default leads."""
        return self.race.incumbent

    def new_candidates(self) -> tuple[Candidate, ...]:
        """Return candidates for the free slots of a round that has not begun.

        None where no point is left. The points that the study file lists enter first.
        """
        entered = [candidate for candidate in self.candidates if candidate.round == self.round]
        refused = sum(bool(candidate.refused) for candidate in entered)
        free = self._slots - len(self.racing)
        if self._has_begun or free < 1 or refused >= MAX_REFUSED_PER_ROUND:
            return ()
        labels = {candidate.label for candidate in self.candidates}
        waiting = [point for label, point in self.search.tries.items() if label not in labels]
        points = waiting[:free] or propose(
            self.search.space, self._taken, free, self.seed, self.policy
        )
        return name_points(self.study, points, self.candidates, self.round)

    def next_block(self) -> Block | None:
        """Return the next block of the round; None without racing candidates."""
        if not self.racing and not self._has_begun:
            return None
        draw = random.Random(f"{self.seed} {self.round}")
        workloads = draw.sample(self._workloads, len(self._workloads))
        left = next(
            workload for workload in workloads if (workload, self.round) not in self._complete
        )
        generator = random.Random(f"{self.seed} {self.round} {left}")
        labels = (DEFAULT, *self.racing)
        return Block(self.round, left, tuple(generator.sample(labels, len(labels))))

    def outcome(self) -> SearchOutcome:
        """Return the outcome if the search ends now."""
        leader = self.incumbent
        return SearchOutcome(None if leader is None else self.candidates[leader].label)

    @cached_property
    def spent(self) -> BudgetUse:
        """The budget used by complete rounds, so that the current round does not change."""
        return BudgetUse.from_rows(row for row in self.rows if row.block < self.round)

    @cached_property
    def _slots(self) -> int:
        """The number of candidates that the budget allows in this round."""
        match self.search.budget:
            case TrialBudget(trials):
                left = (trials - self.spent.trials) // len(self._workloads) - 1
                return max(0, min(self.policy.slots, left))
            case TimeBudget(seconds):
                return self.policy.slots if self.spent.seconds < seconds else 0
            case unreachable:
                assert_never(unreachable)

    @cached_property
    def _complete(self) -> set[tuple[str, int]]:
        return {(row.workload, row.block) for row in self.rows if row.counts}

    @property
    def _has_begun(self) -> bool:
        return any((label, self.round) in self._complete for label in self._workloads)

    @property
    def _workloads(self) -> list[str]:
        return [request.label for request in self.study.workloads]

    @property
    def policy(self) -> SearchPolicy:
        """The policy of the search."""
        return build_policy(self.search, self.study.weights)

    @cached_property
    def candidate_results(self) -> tuple[CandidateResult, ...]:
        """The candidates with their results of complete rounds."""
        values = collect_figures(self.study, self.rows)
        return tuple(
            CandidateResult(
                candidate.point,
                tuple(self._ratios(label, candidate.label, values) for label in self._workloads),
                refused=bool(candidate.refused),
            )
            for candidate in self.candidates
        )

    @property
    def _taken(self) -> tuple[CandidateResult, ...]:
        """All points that must not be proposed again, including the default's."""
        default = self.search.default
        return (
            self.candidate_results
            if default is None
            else (*self.candidate_results, CandidateResult(default, refused=True))
        )

    def _ratios(
        self, workload: str, label: str, values: dict[tuple[str, str], BlockFigures]
    ) -> NDArray[np.float64]:
        """Return paired log-ratios to the default by round; NaN without a pair."""
        figure = next(w.figure for w in self.study.workloads if w.label == workload)
        sign = 1 if figure.higher_is_better else -1
        figures, base = values.get((workload, label), {}), values.get((workload, DEFAULT), {})
        ratios = np.full(self.round - 1, np.nan)
        for block in figures.keys() & base.keys():
            if block < self.round:
                ratios[block - 1] = sign * math.log(figures[block] / base[block])
        return ratios
