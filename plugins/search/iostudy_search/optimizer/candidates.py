"""Results of a search's candidates, and its policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy_search.optimizer.space import Point

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CandidateResult:
    """A candidate with its comparison with the default.

    ``ratios`` has an array for each workload: the paired log-ratios to the default by block,
    positive where the candidate is better, NaN for blocks without it. A block has the same index in
    the arrays of all candidates; missing values at the end count as NaN. ``refused``: it cannot run
    here, for example because the host refuses its values.
    """

    point: Point
    ratios: tuple[Array, ...] = ()
    refused: bool = False


@dataclass(frozen=True)
class SearchPolicy:
    """The parameters of a search.

    ``first``: the number of initial candidates that are spread over the space. ``slots``: the
    candidates in a block in addition to the default. ``rungs``: the numbers of blocks after which a
    candidate is tested, ascending; after the last it is finished. ``worst``: the smallest log-ratio
    allowed on any workload. ``weights``: one for each workload, equal by default. ``level``: the
    one-sided level of the race. It only affects the number of trials; claims come from the
    confirmation.
    """

    first: int
    slots: int
    rungs: tuple[int, ...] = (1, 2, 4, 8)
    worst: float | None = None
    weights: tuple[float, ...] = ()
    level: float = 0.05


def stack_ratios(results: Sequence[CandidateResult], policy: SearchPolicy) -> tuple[Array, Array]:
    """Stack ratios as workloads x candidates x blocks, with workload weights that sum to 1.

    Missing ratios are NaN. Without any block the number of workloads is that of the weights, or 1.
    Raises ValueError for a wrong number of weights.
    """
    most = max((len(result.ratios) for result in results), default=0)
    workloads = most or len(policy.weights) or 1
    blocks = max((len(series) for result in results for series in result.ratios), default=0)
    ratios = np.full((workloads, len(results), blocks), np.nan)
    for candidate, result in enumerate(results):
        for workload, series in enumerate(result.ratios):
            ratios[workload, candidate, : len(series)] = series
    weights = np.asarray(policy.weights or (1.0,) * workloads, dtype=np.float64)
    if len(weights) != workloads:
        raise ValueError(f"{len(weights)} weights for {workloads} workloads")
    return ratios, np.asarray(weights / weights.sum())
