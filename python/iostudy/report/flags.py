"""Where a workload's series does not look like what its figures rest on (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iostudy.analysis.series import Flag, Shared, flag_figures, flag_pairs
from iostudy.conduct.standing import Values, verdict_values
from iostudy.ledger.rows import TrialRow
from iostudy.report.values.results import Result, WorkloadTold
from iostudy.study.model import Study


def flagged(workload: WorkloadTold, study: Study, rows: Sequence[TrialRow]) -> WorkloadTold:
    """The workload and its results with their flags; ``rows`` are in run order."""
    found = of_figures(workload.label, workload.figure.name, study, rows)
    values, shared = verdict_values(study, rows), _shared(study)
    base = values.get((workload.label, study.baseline.label), {})
    results = tuple(
        _flagged(result, base, values.get((workload.label, result.configuration), {}), shared)
        for result in workload.results
    )
    return workload.model_copy(update={"flags": found, "results": results})


def of_figures(
    workload: str, figure: str, study: Study, rows: Sequence[TrialRow]
) -> tuple[Flag, ...]:
    """Those of a figure in the trials that count, whatever their configuration."""
    own = [row for row in rows if row.counts and row.workload == workload]
    figures = [np.log((row.figures or {})[figure]) for row in own]
    return flag_figures(figures, [row.configuration for row in own], _shared(study))


def _shared(study: Study) -> Shared:
    return Shared(series=len(study.workloads), pairs=study.comparisons)


def _flagged(result: Result, base: Values, own: Values, shared: Shared) -> Result:
    if result.baseline:
        return result
    common = sorted(base.keys() & own.keys())
    first, second = (np.log([each[block] for block in common]) for each in (base, own))
    return result.model_copy(update={"flags": flag_pairs(first, second, shared)})
