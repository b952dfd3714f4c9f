"""Scaling of configurations over the levels of a load (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.analysis.paired import Interval, as_fraction
from iostudy.analysis.ranking import IntervalEstimates
from iostudy.analysis.scaling import CurveEstimate
from iostudy.ledger.rows import TrialRow
from iostudy.report.finite import build_span, finite
from iostudy.report.topics.measurements.build import describe_figure
from iostudy.report.topics.scaling.crossings import build_crossings
from iostudy.report.topics.scaling.published import build_published_curves
from iostudy.report.topics.scaling.values import (
    LoadLevel,
    ScalingCurve,
    ScalingPoint,
    ScalingReport,
    ValueInterval,
)
from iostudy.results.scaling import ScalingResult, analyze_scaling
from iostudy.study.model import Study


def build_scaling(study: Study, rows: Sequence[TrialRow]) -> tuple[ScalingReport, ...]:
    """The curves of every workload that has a load."""
    return tuple(_curves(study, each) for each in analyze_scaling(study, rows))


def _curves(study: Study, found: ScalingResult) -> ScalingReport:
    first = found.requests[0]
    levels = tuple(
        LoadLevel(load=own.load.level, text=own.load.text, workload=own.label)
        for own in found.requests
        if own.load is not None
    )
    loads = [level.load for level in levels]
    sign = 1 if first.figure.higher_is_better else -1
    return ScalingReport(
        workload=first.listed_as,
        option=first.load.option if first.load else "",
        figure=describe_figure(first.figure),
        levels=levels,
        curves=tuple(
            _curve(own.label, curve, loads, sign)
            for own, curve in zip(study.configurations(), found.curves, strict=True)
        ),
        crossings=build_crossings(found.crossings, [own.label for own in study.choices()], loads),
        published=build_published_curves(study, first),
    )


def _curve(label: str, curve: CurveEstimate, loads: Sequence[float], sign: int) -> ScalingCurve:
    def loads_at(levels: Sequence[int]) -> tuple[float, ...]:
        return tuple(loads[level] for level in levels)

    return ScalingCurve(
        configuration=label,
        points=tuple(_point(curve, level, loads, sign) for level in range(len(loads))),
        rises=curve.rises,
        knee=loads_at(curve.knee),
        pays_up_to=loads_at(curve.saturates_at),
        holds_up_to=loads_at(curve.stable_up_to),
        peak=loads_at(curve.peak),
    )


def _point(curve: CurveEstimate, level: int, loads: Sequence[float], sign: int) -> ScalingPoint:
    """``sign`` is +1 where higher is better, else -1: estimates are of s ln y."""
    value = _extract_estimate(curve.values, level, sign)
    step = _extract_estimate(curve.gains, (level - 1, level), sign) if level else None
    growth = _extract_estimate(curve.gains, (0, level), sign) if level and sign > 0 else None
    ideal = math.log(loads[level] / loads[0])
    return ScalingPoint(
        load=loads[level],
        value=_exp(value.middle),
        interval=_ends(value),
        step=None if step is None else finite(as_fraction(step.middle)),
        step_interval=None if step is None else build_span(step.interval.as_fractions()),
        efficiency=None if growth is None else _exp(growth.middle - ideal),
        efficiency_interval=None if growth is None else _ends(growth, ideal),
    )


@dataclass(frozen=True)
class _Logarithm:
    """ln of a figure or of a ratio of two, with its interval."""

    middle: float
    interval: Interval


def _extract_estimate(
    estimates: IntervalEstimates, place: int | tuple[int, int], sign: int
) -> _Logarithm:
    """Return the estimate of the figure itself, whichever direction is better."""
    low, high = float(estimates.low[place]), float(estimates.high[place])
    interval = Interval(low, high) if sign > 0 else Interval(-high, -low)
    return _Logarithm(sign * float(estimates.value[place]), interval)


def _ends(found: _Logarithm, less: float = 0.0) -> ValueInterval | None:
    low, high = _exp(found.interval.low - less), _exp(found.interval.high - less)
    return None if not low or high is None else ValueInterval(low=low, high=high)


def _exp(logarithm: float) -> float | None:
    """None for what is unknown, or too large to hold."""
    return finite(as_fraction(logarithm) + 1)
