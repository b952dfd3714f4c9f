"""Racing of candidates: elimination and the incumbent.

Every block runs the default and the racing candidates. After 1, 2, 4 and 8 blocks (`SearchPolicy`)
a candidate is dropped if the one-sided t interval of its difference from the incumbent lies below 0
(racing: Maron & Moore 1994; Birattari et al. 2002). The incumbent is the best of the candidates
with the most blocks, so that a favourable first block does not suffice (as in SMAC's
intensification, Hutter, Hoos & Leyton-Brown 2011). The default remains the incumbent until a
candidate is above 0.

The race only saves trials. The winner's estimate is biased by selection; its confirmation in new
blocks gives the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy, stack_ratios
from iostudy_search.optimizer.estimates import Array, CandidateEstimates, estimate_candidates

Counts = NDArray[np.int64]


class RaceStatus(StrEnum):
    """The status of a candidate."""

    RACING = "racing"
    WORSE = "clearly worse"
    UNFIT = "a workload suffers"
    REFUSED = "refused"
    FINISHED = "all the way"


@dataclass(frozen=True)
class Entrant:
    """A candidate in the race, with estimates as log-ratios to the default.

    ``blocks``: its blocks on every workload. ``estimate``: the weighted mean over workloads,
    ``error`` its standard error; ``by_workload``: the mean on each workload. All are NaN without a
    block, and the error without a variance. ``eligible``: no workload is estimated below the
    allowed worst.
    """

    blocks: int
    estimate: float
    error: float
    by_workload: tuple[float, ...]
    status: RaceStatus
    eligible: bool

    @property
    def is_known(self) -> bool:
        """Whether it has been measured and is not refused."""
        return self.blocks > 0 and self.status is not RaceStatus.REFUSED


@dataclass(frozen=True)
class Race:
    """The state of a race, with entrants in the order of the candidates.

    ``incumbent``: the index of the leader, None for the default. ``runs``: the candidates in the
    next block. ``free``: its slots for new candidates.
    """

    entrants: tuple[Entrant, ...]
    incumbent: int | None
    runs: tuple[int, ...]
    free: int


def run_race(candidates: Sequence[CandidateResult], rules: SearchPolicy) -> Race:
    """Evaluate the race from the first block to the last.

    A pure function of its arguments: a dropped candidate stays dropped, because each test uses the
    blocks up to its time. Raises ValueError for a wrong number of weights.
    """
    ratios, shares = stack_ratios(candidates, rules)
    judge = _RaceEvaluation(ratios, shares, rules)
    statuses = [
        RaceStatus.REFUSED if candidate.refused else RaceStatus.RACING for candidate in candidates
    ]
    for blocks in range(1, ratios.shape[2] + 1):
        statuses = judge.after(blocks, statuses)
    return judge.result(statuses)


@dataclass(frozen=True)
class _RaceEvaluation:
    """``ratios`` are workloads x candidates x blocks."""

    ratios: Array
    shares: Array
    rules: SearchPolicy

    def after(self, blocks: int, statuses: list[RaceStatus]) -> list[RaceStatus]:
        """Return the statuses after this number of blocks, from those one block earlier."""
        ran, counts = self._ran[:, blocks - 1], self._counts(blocks)
        judged = [
            candidate
            for candidate, status in enumerate(statuses)
            if status is RaceStatus.RACING
            and ran[candidate]
            and counts[candidate] in self.rules.rungs
        ]
        if not judged:
            return statuses
        estimates = estimate_candidates(self.ratios[:, :, :blocks], self.shares)
        incumbent = self._incumbent(estimates, counts, statuses)
        after = list(statuses)
        for candidate in judged:
            if counts[candidate] == self.rules.rungs[-1]:
                after[candidate] = RaceStatus.FINISHED
            elif candidate != incumbent and self._is_worse(estimates, candidate, incumbent):
                after[candidate] = RaceStatus.WORSE
            if self._violates_limit(estimates, candidate):
                after[candidate] = RaceStatus.UNFIT
        return after

    def result(self, statuses: list[RaceStatus]) -> Race:
        """Return the race with these statuses."""
        blocks = self.ratios.shape[2]
        estimates, counts = estimate_candidates(self.ratios, self.shares), self._counts(blocks)
        eligible = self._eligible(estimates)
        errors = np.sqrt(np.diagonal(estimates.covariance))
        racing = [index for index, status in enumerate(statuses) if status is RaceStatus.RACING]
        runs = tuple(racing[: self.rules.slots])
        entrants = tuple(
            Entrant(
                blocks=int(counts[index]),
                estimate=float(estimates.value[index]),
                error=float(errors[index]) if counts[index] else np.nan,
                by_workload=tuple(map(float, estimates.by_workload[:, index])),
                status=status,
                eligible=bool(eligible[index]),
            )
            for index, status in enumerate(statuses)
        )
        incumbent = self._incumbent(estimates, counts, statuses)
        return Race(entrants, incumbent, runs, self.rules.slots - len(runs))

    def _incumbent(
        self, estimates: CandidateEstimates, counts: Counts, statuses: Sequence[RaceStatus]
    ) -> int | None:
        """Return the best of the candidates with the most blocks, None for the default."""
        alive = np.isin(statuses, [RaceStatus.RACING, RaceStatus.FINISHED]) & (counts > 0)
        alive &= self._eligible(estimates)
        if not alive.any():
            return None
        ahead = alive & (counts == counts[alive].max())
        best = int(np.argmax(np.where(ahead, estimates.value, -np.inf)))
        return best if estimates.value[best] > 0 else None

    def _is_worse(
        self, estimates: CandidateEstimates, candidate: int, incumbent: int | None
    ) -> bool:
        return estimates.upper_bound(candidate, incumbent, self.rules.level) < 0

    def _violates_limit(self, estimates: CandidateEstimates, candidate: int) -> bool:
        if self.rules.worst is None:
            return False
        highest = estimates.upper_bounds(self.rules.level)[:, candidate]
        return bool((highest < self.rules.worst).any())

    def _eligible(self, estimates: CandidateEstimates) -> NDArray[np.bool_]:
        worst = -np.inf if self.rules.worst is None else self.rules.worst
        return np.asarray(~(estimates.by_workload < worst).any(axis=0))

    @cached_property
    def _ran(self) -> NDArray[np.bool_]:
        """Candidates x blocks: whether the candidate ran in the block on every workload."""
        return np.asarray(np.isfinite(self.ratios).all(axis=0))

    def _counts(self, blocks: int) -> Counts:
        return np.asarray(self._ran[:, :blocks].sum(axis=1))
