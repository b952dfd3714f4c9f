"""How a search goes on: candidates and ledger rows in, what is run next out (pure).

A round is a block of every workload, with the default and the candidates that race. Who races is
settled by the rounds before it, so that it is the same for all blocks of a round, and the same
again after a stop.
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

from iostudy.analysis.search.candidates import CandidateResult, SearchPolicy
from iostudy.analysis.search.propose import propose
from iostudy.analysis.search.race import Race, race
from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import Values, verdict_values
from iostudy.study.candidates import name_points
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy.study.search import DEFAULT, SLOTS, Candidate, Outcome, Search, TimeBudget, TrialBudget

MOST_REFUSED = 20
"""So many candidates of a round may be refused before a search takes its space for used up."""


_FIRST_PER_PARAMETER = 3
"""Points of the Latin hypercube for each parameter, before any is chosen by what was seen."""


def rules_of(search: Search, weights: tuple[float, ...] = ()) -> SearchPolicy:
    """How the search goes on; ``weights`` are those of the workloads, in their order."""
    return SearchPolicy(
        first=_FIRST_PER_PARAMETER * len(search.space.parameters),
        slots=SLOTS,
        worst=None if search.worst is None else -math.log1p(search.worst),
        weights=weights,
    )


@dataclass(frozen=True)
class Spent:
    """What trials have used of the budget.

    Those that do not count use nothing, so that a disturbance decides nothing.
    """

    trials: int
    seconds: float

    @classmethod
    def of(cls, rows: Iterable[TrialRow]) -> Spent:
        """By the phases that the ledger keeps of each trial."""
        used = [row for row in rows if row.counts]
        return cls(len(used), math.fsum(s for row in used for s in (row.phases or {}).values()))


@dataclass(frozen=True)
class SearchState:
    """A search as far as it has come. ``study`` is the one that searches."""

    study: Study
    seed: int
    candidates: tuple[Candidate, ...]
    rows: Sequence[TrialRow]

    @property
    def search(self) -> Search:
        """What the study searches."""
        assert self.study.search is not None
        return self.study.search

    @cached_property
    def round(self) -> int:
        """The number of the first round that is not whole, from 1."""
        number = 1
        while all((label, number) in self._whole for label in self._workloads):
            number += 1
        return number

    @cached_property
    def race(self) -> Race:
        """How the candidates stand after all whole rounds."""
        return race(self.seen, self.rules)

    @property
    def racers(self) -> tuple[str, ...]:
        """The candidates of the round, as far as they have entered."""
        return tuple(self.candidates[index].label for index in self.race.runs[: self._places])

    @property
    def incumbent(self) -> int | None:
        """Which of the candidates is ahead, None while that is the default."""
        return self.race.incumbent

    def newcomers(self) -> tuple[Candidate, ...]:
        """Candidates for the free places of a round that has not begun; none if there are no more.

        Known points enter first.
        """
        entered = [each for each in self.candidates if each.round == self.round]
        refused = sum(bool(each.refused) for each in entered)
        free = self._places - len(self.racers)
        if self._is_under_way or free < 1 or refused >= MOST_REFUSED:
            return ()
        labels = {each.label for each in self.candidates}
        waiting = [point for label, point in self.search.tries.items() if label not in labels]
        points = waiting[:free] or propose(
            self.search.space, self._taken, free, self.seed, self.rules
        )
        return name_points(self.study, points, self.candidates, self.round)

    def block(self) -> Block | None:
        """The next block of the round; None where nobody races."""
        if not self.racers and not self._is_under_way:
            return None
        draw = random.Random(f"{self.seed} {self.round}")
        workloads = draw.sample(self._workloads, len(self._workloads))
        left = next(each for each in workloads if (each, self.round) not in self._whole)
        own = random.Random(f"{self.seed} {self.round} {left}")
        labels = (DEFAULT, *self.racers)
        return Block(self.round, left, tuple(own.sample(labels, len(labels))))

    def outcome(self) -> Outcome:
        """What the search has found if it ends here."""
        ahead = self.incumbent
        return Outcome(None if ahead is None else self.candidates[ahead].label)

    @cached_property
    def spent(self) -> Spent:
        """In whole rounds, so that the round under way stays what it was when it began."""
        return Spent.of(row for row in self.rows if row.block < self.round)

    @cached_property
    def _places(self) -> int:
        """For how many candidates the budget has room in this round."""
        match self.search.budget:
            case TrialBudget(trials):
                left = (trials - self.spent.trials) // len(self._workloads) - 1
                return max(0, min(self.rules.slots, left))
            case TimeBudget(seconds):
                return self.rules.slots if self.spent.seconds < seconds else 0
            case unreachable:
                assert_never(unreachable)

    @cached_property
    def _whole(self) -> set[tuple[str, int]]:
        return {(row.workload, row.block) for row in self.rows if row.counts}

    @property
    def _is_under_way(self) -> bool:
        return any((label, self.round) in self._whole for label in self._workloads)

    @property
    def _workloads(self) -> list[str]:
        return [request.label for request in self.study.workloads]

    @property
    def rules(self) -> SearchPolicy:
        """How the search goes on."""
        return rules_of(self.search, self.study.weights)

    @cached_property
    def seen(self) -> tuple[CandidateResult, ...]:
        """The candidates with what whole rounds say of them."""
        values = verdict_values(self.study, self.rows)
        return tuple(
            CandidateResult(
                each.point,
                tuple(self._ratios(label, each.label, values) for label in self._workloads),
                refused=bool(each.refused),
            )
            for each in self.candidates
        )

    @property
    def _taken(self) -> tuple[CandidateResult, ...]:
        """All points that are not to be proposed again, the default's among them."""
        default = self.search.default
        return (
            self.seen if default is None else (*self.seen, CandidateResult(default, refused=True))
        )

    def _ratios(
        self, workload: str, label: str, values: dict[tuple[str, str], Values]
    ) -> NDArray[np.float64]:
        """Paired log-ratios to the default by round, positive where better, NaN without a pair."""
        figure = next(w.figure for w in self.study.workloads if w.label == workload)
        sign = 1 if figure.higher_is_better else -1
        own, base = values.get((workload, label), {}), values.get((workload, DEFAULT), {})
        ratios = np.full(self.round - 1, np.nan)
        for block in own.keys() & base.keys():
            if block < self.round:
                ratios[block - 1] = sign * math.log(own[block] / base[block])
        return ratios
