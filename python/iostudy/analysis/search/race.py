"""Which candidates go on, which are dropped, and which of them is ahead.

Every block runs the default and the candidates that race. After 1, 2, 4 and 8 blocks
(`SearchPolicy`) a candidate is judged, and dropped if it is clearly worse than the incumbent: if
the one-sided t interval of their difference lies below 0 (racing: Maron & Moore 1994; Birattari et
al. 2002). The incumbent is the best of those with the most blocks, so that no lucky first block
takes its place (as in SMAC's intensification, Hutter, Hoos & Leyton-Brown 2011); the default has as
many as any, and keeps its place until some candidate is above 0.

The race only saves trials. The winner's estimate is that of the luckiest, too; what it is worth is
told by its confirmation in fresh blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.search.candidates import CandidateResult, SearchPolicy, stacked
from iostudy.analysis.search.estimates import Array, Estimates, estimate

Counts = NDArray[np.int64]


class Standing(StrEnum):
    """What has become of a candidate."""

    RACING = "racing"
    WORSE = "clearly worse"
    UNFIT = "a workload suffers"
    REFUSED = "refused"
    FINISHED = "all the way"


@dataclass(frozen=True)
class Entrant:
    """A candidate in the race, with estimates as log-ratios to the default.

    ``blocks``: in how many it was on every workload. ``estimate``: the weighted mean over
    workloads, ``error`` its standard error; ``on``: the mean on each workload. All are NaN without
    a block, and the error as long as no noise is known. ``eligible``: no workload is estimated
    below the worst that is allowed.
    """

    blocks: int
    estimate: float
    error: float
    on: tuple[float, ...]
    standing: Standing
    eligible: bool

    @property
    def is_known(self) -> bool:
        """Whether it has been measured and can be run."""
        return self.blocks > 0 and self.standing is not Standing.REFUSED


@dataclass(frozen=True)
class Race:
    """How the candidates stand, in the order in which they were given.

    ``incumbent``: the one that is ahead, None where it is the default. ``runs``: those that are in
    the next block. ``free``: places in it for new candidates.
    """

    entrants: tuple[Entrant, ...]
    incumbent: int | None
    runs: tuple[int, ...]
    free: int


def race(seen: Sequence[CandidateResult], rules: SearchPolicy) -> Race:
    """The race as the blocks leave it, judged again from the first block to the last.

    A function of its arguments alone: what was dropped stays dropped, as it is judged by the blocks
    that were there at its time. Raises ValueError for a wrong number of weights.
    """
    ratios, shares = stacked(seen, rules)
    judge = _Judge(ratios, shares, rules)
    standings = [Standing.REFUSED if each.refused else Standing.RACING for each in seen]
    for blocks in range(1, ratios.shape[2] + 1):
        standings = judge.after(blocks, standings)
    return judge.told(standings)


@dataclass(frozen=True)
class _Judge:
    """``ratios`` are workloads x candidates x blocks."""

    ratios: Array
    shares: Array
    rules: SearchPolicy

    def after(self, blocks: int, standings: list[Standing]) -> list[Standing]:
        """The standings after that many blocks, from those before the last of them."""
        ran, counts = self._ran[:, blocks - 1], self._counts(blocks)
        judged = [
            candidate
            for candidate, standing in enumerate(standings)
            if standing is Standing.RACING
            and ran[candidate]
            and counts[candidate] in self.rules.rungs
        ]
        if not judged:
            return standings
        estimates = estimate(self.ratios[:, :, :blocks], self.shares)
        incumbent = self._incumbent(estimates, counts, standings)
        after = list(standings)
        for candidate in judged:
            if counts[candidate] == self.rules.rungs[-1]:
                after[candidate] = Standing.FINISHED
            elif candidate != incumbent and self._is_worse(estimates, candidate, incumbent):
                after[candidate] = Standing.WORSE
            if self._is_unfit(estimates, candidate):
                after[candidate] = Standing.UNFIT
        return after

    def told(self, standings: list[Standing]) -> Race:
        """The race with these standings."""
        blocks = self.ratios.shape[2]
        estimates, counts = estimate(self.ratios, self.shares), self._counts(blocks)
        eligible = self._eligible(estimates)
        errors = np.sqrt(np.diagonal(estimates.covariance))
        racing = [index for index, own in enumerate(standings) if own is Standing.RACING]
        runs = tuple(racing[: self.rules.slots])
        entrants = tuple(
            Entrant(
                blocks=int(counts[index]),
                estimate=float(estimates.value[index]),
                error=float(errors[index]) if counts[index] else np.nan,
                on=tuple(map(float, estimates.on[:, index])),
                standing=standing,
                eligible=bool(eligible[index]),
            )
            for index, standing in enumerate(standings)
        )
        incumbent = self._incumbent(estimates, counts, standings)
        return Race(entrants, incumbent, runs, self.rules.slots - len(runs))

    def _incumbent(
        self, estimates: Estimates, counts: Counts, standings: Sequence[Standing]
    ) -> int | None:
        """The best of those with the most blocks, None where that is the default."""
        alive = np.isin(standings, [Standing.RACING, Standing.FINISHED]) & (counts > 0)
        alive &= self._eligible(estimates)
        if not alive.any():
            return None
        ahead = alive & (counts == counts[alive].max())
        best = int(np.argmax(np.where(ahead, estimates.value, -np.inf)))
        return best if estimates.value[best] > 0 else None

    def _is_worse(self, estimates: Estimates, candidate: int, incumbent: int | None) -> bool:
        return estimates.upper(candidate, incumbent, self.rules.level) < 0

    def _is_unfit(self, estimates: Estimates, candidate: int) -> bool:
        if self.rules.worst is None:
            return False
        highest = estimates.upper_on(self.rules.level)[:, candidate]
        return bool((highest < self.rules.worst).any())

    def _eligible(self, estimates: Estimates) -> NDArray[np.bool_]:
        worst = -np.inf if self.rules.worst is None else self.rules.worst
        return np.asarray(~(estimates.on < worst).any(axis=0))

    @cached_property
    def _ran(self) -> NDArray[np.bool_]:
        """Candidates x blocks: whether each was in it on every workload."""
        return np.asarray(np.isfinite(self.ratios).all(axis=0))

    def _counts(self, blocks: int) -> Counts:
        return np.asarray(self._ran[:, :blocks].sum(axis=1))
