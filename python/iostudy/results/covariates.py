"""Covariates of trials and windows as matrices of blocks and configurations (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from iostudy.errors import LedgerError
from iostudy.ledger.rows import SwitchbackRows, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.study.model import Study
from iostudy.telemetry.covariates import (
    WINDOW_COLUMNS,
    Covariate,
    compute_covariates,
    compute_window_covariates,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CovariateValues:
    """A covariate of the trials or windows of a workload: blocks x configurations, NaN if unknown.

    Trials are those that count.
    """

    workload: str
    covariate: Covariate
    shares: Array


def covariate_values(study: Study, rows: Sequence[TrialRow]) -> tuple[CovariateValues, ...]:
    """Every covariate that is known of any counted trial, by workload in the study's order."""
    return _in_order(
        study,
        (
            (row.workload, covariate, (row.block, row.configuration), share)
            for row in rows
            if row.counts and row.summary is not None
            for covariate, share in compute_covariates(row.summary).items()
        ),
    )


def window_covariate_values(
    study: Study, rows: SwitchbackRows, samples: ReadSamples
) -> tuple[CovariateValues, ...]:
    """Every covariate that is known of any window: means over the windows of a block.

    A run without readable samples has none; its notes say why.
    """
    shares_by_key: dict[tuple[str, Covariate, tuple[int, str]], list[float]] = {}
    for request in study.workloads:
        for run, windows in rows.by_run(request.label):
            starts = np.array([row.start for row in windows])
            ends = starts + np.array([row.seconds for row in windows])
            try:
                read = samples(run.telemetry, WINDOW_COLUMNS) if windows else None
            except LedgerError:
                continue
            known = compute_window_covariates(read, starts, ends) if read else {}
            for covariate, shares in known.items():
                for row, share in zip(windows, shares.tolist(), strict=True):
                    if math.isfinite(share):
                        key = (request.label, covariate, (row.block, row.configuration))
                        shares_by_key.setdefault(key, []).append(share)
    return _in_order(study, ((*key, fmean(values)) for key, values in shares_by_key.items()))


def _in_order(
    study: Study, shares: Iterable[tuple[str, Covariate, tuple[int, str], float]]
) -> tuple[CovariateValues, ...]:
    """Return the shares of (workload, covariate, (block, configuration)) as matrices."""
    matrices: dict[tuple[str, Covariate], dict[tuple[int, str], float]] = {}
    for workload, covariate, place, share in shares:
        matrices.setdefault((workload, covariate), {})[place] = share
    labels = [configuration.label for configuration in study.configurations()]
    return tuple(
        CovariateValues(
            request.label,
            covariate,
            np.array(
                [
                    [by_place.get((block, label), math.nan) for label in labels]
                    for block in sorted({block for block, _ in by_place})
                ]
            ),
        )
        for request in study.workloads
        for covariate in Covariate
        if (by_place := matrices.get((request.label, covariate)))
    )


def count_tests(values: Sequence[CovariateValues]) -> int:
    """The number of tests for an imbalance: one of every covariate that was not always 0."""
    return sum(bool(np.nansum(value.shares) > 0) for value in values)
