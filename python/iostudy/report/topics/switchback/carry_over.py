"""Tests of carry-over over the rounds of a workload as values of the report (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.switchback.carry_over import (
    CarryOverEffect,
    Drift,
    Rounds,
    measure_drift,
    measure_position,
    measure_previous,
    measure_residence,
)
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.ledger.rows import WindowRow
from iostudy.report.base import Span
from iostudy.report.topics.switchback.values import CarryOver, CarryOverReport
from iostudy.results.comparisons import decision_rule
from iostudy.study.model import Study, WorkloadRequest

_RELEVANT = 0.25
"""In margins: smaller effects are not flagged."""


def collect_rounds(
    study: Study, request: WorkloadRequest, windows: Sequence[WindowRow]
) -> Rounds | None:
    """Collect the rounds with the figures of all configurations; None with fewer than two.

    A window without its figure leaves its round out.
    """
    labels = [own.label for own in study.configurations()]
    by_round: dict[tuple[int, int], dict[str, WindowRow]] = {}
    for row in windows:
        if row.figures.get(request.figure.name, 0.0) > 0:
            by_round.setdefault((row.block, row.round), {})[row.configuration] = row
    rounds = [
        [own[label] for label in labels] for own in by_round.values() if len(own) == len(labels)
    ]
    if len(rounds) < 2:
        return None
    starts = np.array([min(row.start for row in own) for own in rounds])
    return Rounds(
        logs=np.log([[row.figures[request.figure.name] for row in own] for own in rounds]),
        positions=np.array([[row.position - 1 for row in own] for own in rounds]),
        previous=np.array([[_index(labels, row.previous) for row in own] for own in rounds]),
        seconds=float(np.median(np.diff(starts))),
    )


def build_carry_over(study: Study, rounds: Rounds, plan: WindowPlan) -> tuple[CarryOverReport, ...]:
    """Test every effect; the tests of all workloads share the study's risk equally."""
    labels = [own.label for own in study.configurations()]
    positions = [str(place + 1) for place in range(len(labels))]
    effects = (
        (CarryOver.POSITION, measure_position(rounds), positions),
        (CarryOver.PREVIOUS, measure_previous(rounds), labels),
        (CarryOver.RESIDENCE, measure_residence(rounds), labels),
    )
    drift = measure_drift(rounds, _lags(study, plan))
    return (
        *(_report(study, source, own, names) for source, own, names in effects if own),
        *_report_drift(study, drift, labels),
    )


def _lags(study: Study, plan: WindowPlan) -> list[float]:
    """Return by how much the windows are later than those of the baseline on average, in seconds.

    In random order half of the other periods precede a period, and a longer washout delays the
    window in its own period.
    """
    base = plan.washout_seconds[study.baseline.label]
    return [(plan.washout_seconds[own.label] - base) / 2 for own in study.configurations()]


def _report_drift(
    study: Study, drift: Drift | None, labels: Sequence[str]
) -> Iterator[CarryOverReport]:
    if drift is not None:
        yield _report(study, CarryOver.DRIFT, drift.bias, labels).model_copy(
            update={
                "slope": as_fraction(drift.slope),
                "slope_interval": Span(low=as_fraction(drift.low), high=as_fraction(drift.high)),
            }
        )


def _report(
    study: Study, source: CarryOver, own: CarryOverEffect, names: Sequence[str]
) -> CarryOverReport:
    level = study.decide.risk / (len(CarryOver) * len(study.workloads))
    return CarryOverReport(
        source=source,
        p=own.p,
        group=names[own.group],
        effect=as_fraction(own.effect),
        interval=Span(low=as_fraction(own.low), high=as_fraction(own.high)),
        flagged=own.is_flagged(level, _RELEVANT * decision_rule(study).delta),
    )


def _index(labels: Sequence[str], label: str) -> int:
    return labels.index(label) if label in labels else -1
