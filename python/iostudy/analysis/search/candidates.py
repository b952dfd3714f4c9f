"""What a search has seen of its candidates, and what it goes by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.search.space import Point

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CandidateResult:
    """A candidate, and how it compares with the default.

    ``ratios`` has an array for each workload: the paired log-ratios to the default by the number of
    the block, positive where the candidate is better, NaN for blocks without it. A block has the
    same place in the arrays of all candidates; what is missing at the end counts as NaN.
    ``refused``: it cannot be run here, as where the host does not take its values.
    """

    point: Point
    ratios: tuple[Array, ...] = ()
    refused: bool = False


@dataclass(frozen=True)
class SearchPolicy:
    """How a search goes on.

    ``first``: candidates that are spread over the space, before any is chosen by what was seen.
    ``slots``: candidates in a block, beside the default. ``rungs``: the numbers of blocks after
    which a candidate is judged, ascending; with the last it has gone all the way. ``worst``: the
    log-ratio that no workload may fall below. ``weights``: one for each workload, by ratio; all
    alike without any. ``level``: the one-sided level of what is called clear in the race. Nothing
    rests on it but trials: claims come from the confirmation.
    """

    first: int
    slots: int
    rungs: tuple[int, ...] = (1, 2, 4, 8)
    worst: float | None = None
    weights: tuple[float, ...] = ()
    level: float = 0.05


def stacked(seen: Sequence[CandidateResult], rules: SearchPolicy) -> tuple[Array, Array]:
    """All ratios as workloads x candidates x blocks, and the weights of workloads, summing to 1.

    Where there is no ratio it is NaN. Without any block there is one workload or as many as have
    weights. Raises ValueError for a wrong number of weights.
    """
    most = max((len(each.ratios) for each in seen), default=0)
    workloads = most or len(rules.weights) or 1
    blocks = max((len(own) for each in seen for own in each.ratios), default=0)
    ratios = np.full((workloads, len(seen), blocks), np.nan)
    for candidate, each in enumerate(seen):
        for workload, own in enumerate(each.ratios):
            ratios[workload, candidate, : len(own)] = own
    weights = np.asarray(rules.weights or (1.0,) * workloads, dtype=np.float64)
    if len(weights) != workloads:
        raise ValueError(f"{len(weights)} weights for {workloads} workloads")
    return ratios, np.asarray(weights / weights.sum())
