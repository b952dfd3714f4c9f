"""Confirmation of verdicts of windows by a few whole trials."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from iostudy.execution.progress import Progress
from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import Block

BLOCKS = 5
"""A t interval of five pairs is 2.8 standard errors wide on each side, of three 4.3."""


class ConfirmationSchedule:
    """A schedule of blocks of whole trials under the baseline and the confirmed configurations.

    ``labels`` are these configurations by workload. The trials decide nothing, so `comparisons`
    returns those of the windows.
    """

    def __init__(
        self,
        study: Study,
        labels: Mapping[str, Sequence[str]],
        seed: int,
        decided: Sequence[ComparisonResult],
    ) -> None:
        self._study = study
        self.labels = labels
        self._seed = seed
        self._decided = tuple(decided)

    @property
    def seed(self) -> int:
        """The seed of the study."""
        return self._seed

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        """Return the first incomplete block; None at the end."""
        complete = {(row.workload, row.block) for row in rows if row.counts}
        for index in range(1, BLOCKS + 1):
            for workload in self.labels:
                if workload not in without and (workload, index) not in complete:
                    return self._draw(workload, index)
        return None

    def configuration(self, label: str) -> Configuration:
        """Return a configuration of the study."""
        return next(own for own in self._study.configurations() if own.label == label)

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """Return the comparisons of the windows."""
        return self._decided

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        """Return the progress after a block."""
        done = {(row.workload, row.block) for row in rows if row.counts}
        left = sum(
            1 + len(own)
            for workload, own in self.labels.items()
            for index in range(1, BLOCKS + 1)
            if (workload, index) not in done
        )
        return Progress(after, left * seconds_per_trial, BLOCKS, self._decided)

    def drop(self, label: str, reason: str) -> bool:
        """Return False: the confirmed configurations are fixed before the first trial."""
        return False

    def _draw(self, workload: str, index: int) -> Block:
        labels = [self._study.baseline.label, *self.labels[workload]]
        draw = random.Random(f"{self._seed} {workload} {index} confirmation")
        return Block(index, workload, tuple(draw.sample(labels, len(labels))))
