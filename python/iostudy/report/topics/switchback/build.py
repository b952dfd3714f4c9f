"""Windows of every workload as values of the report (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iostudy.analysis.switchback.block_plan import plan_blocks
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.ledger.rows import PilotRow, ResponseCurve, SwitchbackRows, TrialRow, WindowRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.base import Span
from iostudy.report.topics.switchback.carry_over import build_carry_over, collect_rounds
from iostudy.report.topics.switchback.confirmation import build_confirmations
from iostudy.report.topics.switchback.runs import build_runs
from iostudy.report.topics.switchback.values import (
    AllanPoint,
    LevelResponse,
    ResponsePoint,
    SwitchbackReport,
)
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study, WorkloadRequest


def build_switchback(
    study: Study,
    rows: SwitchbackRows,
    compared: Sequence[ComparisonResult],
    trials: Sequence[TrialRow],
    circumstances: Mapping[str, Any],
    samples: ReadSamples | None,
) -> tuple[SwitchbackReport, ...]:
    """Describe the windows of every workload with a plan; ``trials`` are those of confirmation."""
    pilots = {pilot.workload: pilot for pilot in rows.pilots}
    plans = {pilot.workload: pilot.plan for pilot in rows.pilots if pilot.plan is not None}
    rounds = plan_blocks(plans).rounds if plans else {}
    confirmed = build_confirmations(study, compared, trials) if rows.windows else {}
    found = []
    for request in study.workloads:
        pilot = pilots.get(request.label)
        if pilot is None or pilot.plan is None:
            continue
        windows = [row for row in rows.windows if row.workload == request.label]
        per_block = rounds[request.label]
        report = _describe(study, request, pilot, pilot.plan, per_block, windows)
        own = confirmed.get(request.label, {})
        found.append(
            report.model_copy(
                update={
                    "confirmations": tuple(filter(None, own.values())),
                    "unconfirmed": tuple(label for label, each in own.items() if each is None),
                    "runs": build_runs(study, request, circumstances, rows, samples),
                }
            )
        )
    return tuple(found)


def _describe(
    study: Study,
    request: WorkloadRequest,
    pilot: PilotRow,
    plan: WindowPlan,
    rounds_per_block: int,
    windows: Sequence[WindowRow],
) -> SwitchbackReport:
    rounds = collect_rounds(study, request, windows)
    return SwitchbackReport(
        workload=pilot.workload,
        window_seconds=plan.window_seconds,
        expected_blocks=math.ceil(plan.expected_rounds / rounds_per_block),
        blocks=len({row.block for row in windows}),
        rounds_per_block=rounds_per_block,
        windows=len(windows),
        tested_rounds=len(rounds.logs) if rounds else 0,
        measuring_seconds=windows[-1].start + windows[-1].seconds - windows[0].start
        if windows
        else 0.0,
        deviation=plan.deviation,
        bias=plan.bias,
        max_blocks=study.decide.max_blocks,
        allan=tuple(AllanPoint(seconds=s, deviation=own) for s, own in pilot.allan),
        responses=tuple(
            LevelResponse(
                configuration=label,
                washout_seconds=plan.washout_seconds[label],
                curve=tuple(_points(curve)),
            )
            for label, curve in pilot.responses.items()
        ),
        carry_over=build_carry_over(study, rounds, plan) if rounds else (),
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
