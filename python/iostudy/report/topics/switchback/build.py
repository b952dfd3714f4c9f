"""Windows of every workload as values of the report (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.paired import Interval, as_fraction, mean_interval
from iostudy.analysis.switchback.carry_over import GroupEffect, measure_group_effect
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.ledger.rows import PilotRow, ResponseCurve, SwitchbackRows, TrialRow, WindowRow
from iostudy.report.base import Span
from iostudy.report.finite import build_span
from iostudy.report.formatting import format_change_interval
from iostudy.report.topics.switchback.values import (
    AllanPoint,
    CarryOver,
    CarryOverReport,
    ConfirmationReport,
    LevelResponse,
    ResponsePoint,
    SwitchbackReport,
)
from iostudy.results.comparisons import ComparisonResult, collect_figures, decision_rule
from iostudy.results.recommendation import recommend
from iostudy.study.model import Study, WorkloadRequest

_CONFIDENCE = 0.95
_RELEVANT = 0.25
"""In margins: smaller effects are not flagged."""


def build_switchback(
    study: Study,
    rows: SwitchbackRows,
    compared: Sequence[ComparisonResult],
    trials: Sequence[TrialRow],
) -> tuple[SwitchbackReport, ...]:
    """Describe the windows of every workload with a plan; ``trials`` are those of confirmation."""
    pilots = {pilot.workload: pilot for pilot in rows.pilots}
    label = recommend(study, compared)
    found = []
    for request in study.workloads:
        pilot = pilots.get(request.label)
        if pilot is None or pilot.plan is None:
            continue
        windows = [row for row in rows.windows if row.workload == request.label]
        result = _find_result(compared, request, label)
        confirmation = _confirm(study, result, trials) if result else None
        found.append(_describe(study, pilot, pilot.plan, windows, confirmation))
    return tuple(found)


def describe_disagreements(reports: Sequence[SwitchbackReport]) -> Iterator[str]:
    """Describe every confirmation that contradicts the windows."""
    for own in reports:
        found = own.confirmation
        if found is not None and not found.agrees:
            trials = format_change_interval(found.change, found.interval)
            windows = format_change_interval(found.windows_change, found.windows_interval)
            yield (
                f"Whole trials do not confirm {found.configuration} on {own.workload}: {trials} "
                f"in whole trials, {windows} in windows. Prefer whole trials (decide: {{mode: "
                "trials})."
            )


def _describe(
    study: Study,
    pilot: PilotRow,
    plan: WindowPlan,
    windows: Sequence[WindowRow],
    confirmation: ConfirmationReport | None,
) -> SwitchbackReport:
    return SwitchbackReport(
        workload=pilot.workload,
        window_seconds=plan.window_seconds,
        expected_blocks=plan.blocks,
        blocks=len({row.block for row in windows}),
        windows=len(windows),
        measuring_seconds=windows[-1].start + windows[-1].seconds - windows[0].start
        if windows
        else 0.0,
        deviation=plan.deviation,
        allan=tuple(AllanPoint(seconds=s, deviation=own) for s, own in pilot.allan),
        responses=tuple(
            LevelResponse(
                configuration=label,
                washout_seconds=plan.washout_seconds[label],
                curve=tuple(_points(curve)),
            )
            for label, curve in pilot.responses.items()
        ),
        carry_over=tuple(_carry_over(study, pilot.workload, windows)),
        confirmation=confirmation,
    )


def _points(curve: ResponseCurve) -> Iterator[ResponsePoint]:
    for number, (value, low, high) in enumerate(
        zip(curve.curve, curve.low, curve.high, strict=True)
    ):
        yield ResponsePoint(
            seconds=(number + 0.5) * curve.bin_seconds,
            log_ratio=value,
            interval=Span(low=low, high=high),
        )


def _carry_over(
    study: Study, workload: str, windows: Sequence[WindowRow]
) -> Iterator[CarryOverReport]:
    """Test position and previous configuration over the blocks with all configurations."""
    labels = [own.label for own in study.configurations()]
    blocks = _complete_blocks(windows, labels)
    if len(blocks) < 2:
        return
    (figure,) = (own.figure for own in study.workloads if own.label == workload)
    logs = np.log([[own[label].figures[figure.name] for label in labels] for own in blocks])
    positions = np.array([[own[label].position - 1 for label in labels] for own in blocks])
    previous = np.array(
        [[_index(labels, own[label].previous) for label in labels] for own in blocks]
    )
    names = [str(number + 1) for number in range(len(labels))]
    for source, groups, known in (
        (CarryOver.POSITION, positions, names),
        (CarryOver.PREVIOUS, previous, labels),
    ):
        effect = measure_group_effect(logs, groups)
        if effect is not None:
            yield _report(source, effect, known, study)


def _report(
    source: CarryOver, effect: GroupEffect, names: Sequence[str], study: Study
) -> CarryOverReport:
    rule = decision_rule(study)
    level = rule.risk / (2 * len(study.workloads))
    return CarryOverReport(
        source=source,
        p=effect.p,
        group=names[effect.group],
        effect=as_fraction(effect.effect),
        interval=Span(low=as_fraction(effect.low), high=as_fraction(effect.high)),
        flagged=effect.p < level and abs(effect.effect) > _RELEVANT * rule.delta,
    )


def _complete_blocks(
    windows: Sequence[WindowRow], labels: Sequence[str]
) -> list[dict[str, WindowRow]]:
    blocks: dict[int, dict[str, WindowRow]] = {}
    for row in windows:
        blocks.setdefault(row.block, {})[row.configuration] = row
    return [own for own in blocks.values() if len(own) == len(labels)]


def _index(labels: Sequence[str], label: str) -> int:
    return labels.index(label) if label in labels else -1


def _find_result(
    compared: Sequence[ComparisonResult], request: WorkloadRequest, label: str | None
) -> ComparisonResult | None:
    own = (each for each in compared if each.workload == request.label)
    return next((each for each in own if each.configuration == label), None)


def _confirm(
    study: Study, result: ComparisonResult, trials: Sequence[TrialRow]
) -> ConfirmationReport | None:
    """Compare the configuration in the whole trials; None before two blocks."""
    values = collect_figures(study, trials)
    base = values.get((result.workload, study.baseline.label), {})
    other = values.get((result.workload, result.configuration), {})
    common = sorted(base.keys() & other.keys())
    if len(common) < 2:
        return None
    sign = 1 if result.figure.higher_is_better else -1
    logs = np.array([sign * math.log(other[block] / base[block]) for block in common])
    return _compare(result, logs)


def _compare(result: ComparisonResult, logs: NDArray[np.float64]) -> ConfirmationReport:
    interval, windows = mean_interval(logs, 1 - _CONFIDENCE), result.comparison.interval
    higher = result.figure.higher_is_better
    change = float(logs.mean()) * (1 if higher else -1)
    return ConfirmationReport(
        configuration=result.configuration,
        blocks=len(logs),
        change=as_fraction(change),
        interval=build_span(_of_figure(interval, higher=higher).as_fractions()),
        windows_change=result.comparison.change,
        windows_interval=build_span(result.comparison.change_interval),
        agrees=interval.low <= windows.high and windows.low <= interval.high,
    )


def _of_figure(interval: Interval, *, higher: bool) -> Interval:
    return interval if higher else interval.mirrored()
