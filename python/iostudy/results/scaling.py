"""The curves of a study's load: ledger rows in, curves and crossings out (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.scaling import Crossing, Curve, crossings, curves
from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import (
    Values,
    common_blocks,
    log_figures_of,
    rank_configurations,
    rule_of,
    verdict_values,
)
from iostudy.study.model import Study, WorkloadRequest

Array = NDArray[np.float64]
AllValues = Mapping[tuple[str, str], Values]


@dataclass(frozen=True)
class ScalingResult:
    """One workload over its load: what runs at each level, and what was found over all of them."""

    requests: tuple[WorkloadRequest, ...]
    curves: tuple[Curve, ...]
    crossings: tuple[Crossing, ...]


def analyze_scaling(study: Study, rows: Iterable[TrialRow]) -> tuple[ScalingResult, ...]:
    """Every workload of the study that has a load; none in a screening or a search."""
    groups: dict[str, list[WorkloadRequest]] = {}
    for request in study.workloads:
        if request.load is not None:
            groups.setdefault(request.load.curve, []).append(request)
    if not groups or study.design is not None or study.search is not None:
        return ()
    rows = tuple(rows)
    ranking, values = rank_configurations(study, rows), verdict_values(study, rows)
    alone = dict(zip(study.workloads, ranking.alone, strict=True)) if ranking else {}
    return tuple(
        ScalingResult(
            tuple(own),
            curves(_figures(study, own, values), rule_of(study), count=len(groups)),
            crossings([_level(each) for each in own], [alone[each] for each in own if alone]),
        )
        for own in groups.values()
    )


def _figures(study: Study, own: Sequence[WorkloadRequest], values: AllValues) -> Array:
    """Levels x rounds x configurations."""
    blocks = common_blocks(values, {request.label for request in own})
    return np.stack([log_figures_of(study, request, values, blocks) for request in own])


def _level(request: WorkloadRequest) -> float:
    assert request.load is not None
    return request.load.level
