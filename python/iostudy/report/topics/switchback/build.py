"""Windows of every workload as values of the report (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iostudy.analysis.switchback.earlier_plan import EarlierPlan
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.ledger.rows import SwitchbackRows, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.topics.switchback.confirmation import build_confirmations
from iostudy.report.topics.switchback.runs import build_runs
from iostudy.report.topics.switchback.values import SwitchbackReport
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.mode import Mode, find_mode
from iostudy.study.model import Study, WorkloadRequest


def build_switchback(
    study: Study,
    rows: SwitchbackRows,
    compared: Sequence[ComparisonResult],
    trials: Sequence[TrialRow],
    circumstances: Mapping[str, Any],
    samples: ReadSamples | None,
) -> Iterator[SwitchbackReport]:
    """Describe the windows of every workload with a plan, if they decide.

    ``trials`` are those of the confirmation.
    """
    if find_mode(study) is not Mode.WINDOWS:
        return
    confirmed = build_confirmations(study, compared, trials)
    plans = {own.workload: own.plan for own in rows.plans if own.plan is not None}
    for request in study.workloads:
        if request.label in plans:
            own = confirmed.get(request.label, {})
            yield _describe(study, request, plans[request.label], rows).model_copy(
                update={
                    "confirmations": tuple(filter(None, own.values())),
                    "unconfirmed": tuple(label for label, each in own.items() if each is None),
                    "runs": build_runs(study, request, circumstances, rows, samples),
                }
            )


def _describe(
    study: Study, request: WorkloadRequest, plan: WindowPlan | EarlierPlan, rows: SwitchbackRows
) -> SwitchbackReport:
    windows = [row for row in rows.windows if row.workload == request.label]
    halves = isinstance(plan, WindowPlan)
    washout = (
        plan.washout_seconds if isinstance(plan, WindowPlan) else max(plan.washout_seconds.values())
    )
    return SwitchbackReport(
        workload=request.label,
        window_seconds=plan.window_seconds,
        washout_seconds=washout,
        blocks=len({row.block for row in windows}),
        max_blocks=study.decide.max_blocks,
        rounds_per_block=max((row.round for row in windows), default=0),
        windows=len(windows) // 2 if halves else len(windows),
        measuring_seconds=windows[-1].start + windows[-1].seconds - windows[0].start
        if windows
        else 0.0,
        bias=study.bias,
    )
