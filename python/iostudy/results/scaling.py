"""Scaling curves and crossings over a study's load, computed from ledger rows (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.ranking import Ranking
from iostudy.analysis.scaling import (
    CrossingEstimate,
    CurveEstimate,
    estimate_curves,
    find_crossings,
)
from iostudy.ledger.rows import MeasuredRow
from iostudy.results.comparisons import (
    collect_figures,
    common_blocks,
    decision_rule,
    workload_log_figures,
)
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest


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
    results = []
    for requests in groups.values():
        blocks = common_blocks(values, {request.label for request in requests})
        # Levels x rounds x configurations.
        logs = (workload_log_figures(study, request, values, blocks) for request in requests)
        figures = np.stack(list(logs))
        curves = estimate_curves(figures, decision_rule(study), count=len(groups))
        loads = [request.load.level for request in requests if request.load is not None]
        crossings = find_crossings(loads, [orders[request] for request in requests if orders])
        results.append(ScalingResult(tuple(requests), curves, crossings))
    return tuple(results)
