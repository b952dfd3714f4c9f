"""Scaling curves and crossings over a study's load, computed from ledger rows (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.ranking import Ranking
from iostudy.analysis.scaling import (
    CrossingEstimate,
    CurveEstimate,
    estimate_curves,
    find_crossings,
)
from iostudy.ledger.rows import MeasuredRow
from iostudy.results.comparisons import (
    BlockFigures,
    collect_figures,
    common_blocks,
    decision_rule,
    workload_log_figures,
)
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest

Array = NDArray[np.float64]
AllValues = Mapping[tuple[str, str], BlockFigures]


@dataclass(frozen=True)
class ScalingResult:
    """The curves and crossings of one workload, with the request of each load level."""

    requests: tuple[WorkloadRequest, ...]
    curves: tuple[CurveEstimate, ...]
    crossings: tuple[CrossingEstimate, ...]


def analyze_scaling(
    study: Study, rows: Iterable[MeasuredRow], ranking: Ranking | None
) -> tuple[ScalingResult, ...]:
    """Analyze every workload with a load, by its ranking; none in a screening or a search."""
    groups: dict[str, list[WorkloadRequest]] = {}
    for request in study.workloads:
        if request.load is not None:
            groups.setdefault(request.load.curve, []).append(request)
    if not groups or not find_mode(study).compares_configurations:
        return ()
    values = collect_figures(study, rows)
    orders = dict(zip(study.workloads, ranking.by_workload, strict=True)) if ranking else {}
    return tuple(
        ScalingResult(
            tuple(own),
            estimate_curves(_figures(study, own, values), decision_rule(study), count=len(groups)),
            find_crossings(
                [_level(request) for request in own], [orders[request] for request in own if orders]
            ),
        )
        for own in groups.values()
    )


def _figures(study: Study, requests: Sequence[WorkloadRequest], values: AllValues) -> Array:
    """Levels x rounds x configurations."""
    blocks = common_blocks(values, {request.label for request in requests})
    return np.stack([workload_log_figures(study, request, values, blocks) for request in requests])


def _level(request: WorkloadRequest) -> float:
    assert request.load is not None
    return request.load.level
