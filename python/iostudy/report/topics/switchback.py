"""Windows of every workload: plan, confirmation and telemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.comparison import Comparison
from iostudy.analysis.paired import Interval, PairedRuns, as_fraction, mean_interval
from iostudy.analysis.switchback.confirmation import (
    CONFIDENCE,
    MOST_BLOCKS,
    Agreement,
    ConfirmationOutcome,
    PairedMean,
    measure_agreement,
)
from iostudy.analysis.switchback.earlier_plan import EarlierPlan
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.diagnosis.context import OperatingPoint, collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.errors import LedgerError
from iostudy.ledger.rows import NO_SAMPLES, PlanRow, RunRow, SwitchbackRows, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.base import Span, Step, Value
from iostudy.report.drawing import BLUE, RED, alt, make_chart, make_legend
from iostudy.report.formatting import (
    UNKNOWN,
    build_span,
    format_change_interval,
    format_count,
    format_interval,
    join_words,
)
from iostudy.report.names import name_configuration
from iostudy.report.section import Chart, Section, TextTable
from iostudy.report.topics.diagnosis import DiagnosisReport, build_diagnosis, build_trial_context
from iostudy.results.comparisons import ComparisonResult, collect_figures, decision_rule
from iostudy.results.confirmation import select_confirmations
from iostudy.study.mode import Mode, find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.telemetry.window_covariates import WINDOW_COLUMNS
from iostudy.units import format_percent, format_seconds

if TYPE_CHECKING:
    from iostudy.report.values import Report


class ConfirmationReport(Value):
    """A comparison of windows in whole trials; changes are fractions of the figure."""

    configuration: str
    """Label of the configuration."""
    blocks: int
    """Blocks of whole trials, each with one trial of the configuration and of the baseline."""
    change: FiniteFloat
    """Change against the baseline in whole trials, as a fraction."""
    interval: Span
    """95 % confidence interval of ``change``."""
    windows_change: FiniteFloat
    """Change against the baseline in windows, as a fraction."""
    windows_interval: Span | None
    """Repeated confidence interval of ``windows_change``; null if unknown."""
    difference: FiniteFloat
    """Change in trials relative to that in windows, as a fraction."""
    difference_interval: Span
    """95 % confidence interval of ``difference``, from the standard errors of both."""
    outcome: ConfirmationOutcome
    """Whether trials and windows agree within the margin."""
    blocks_needed: int | None
    """Blocks of trials that would probably decide an undecided outcome; null if unknown."""


class RunReport(Value):
    """Telemetry of one run of the workload."""

    windows: int
    """Number of its windows."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    seconds: FiniteFloat
    """Duration in seconds."""
    shares: dict[Covariate, FiniteFloat]
    """Disturbances as fractions: steal and foreign CPU of the CPU time, foreign I/O of the bytes.

    Unknown ones are absent.
    """
    diagnosis: DiagnosisReport
    """Bottleneck over the whole run, under all its configurations together."""
    notes: tuple[str, ...]
    """Remarks on the run, such as blocks that were measured again."""


class SwitchbackReport(Value):
    """The windows of one workload."""

    workload: str
    """Label of the workload."""
    window_seconds: FiniteFloat
    """Planned length of a window in seconds."""
    washout_seconds: FiniteFloat
    """Discarded time after a switch in seconds; the longest one in earlier ledgers."""
    blocks: int
    """Number of measured blocks."""
    max_blocks: int
    """Blocks after which an undecided comparison ends."""
    rounds_per_block: int
    """Windows of a configuration in a block, whose figure is the mean of its windows."""
    windows: int
    """Number of measured windows."""
    measuring_seconds: FiniteFloat
    """Time from the start of the first window to the end of the last one, in seconds."""
    bias: FiniteFloat
    """Largest bias of a comparison by responses to switches, a log-ratio in every interval."""
    confirmations: tuple[ConfirmationReport, ...] = ()
    """Confirmations by whole trials."""
    unconfirmed: tuple[str, ...] = ()
    """Configurations whose confirmation has fewer than two blocks of whole trials."""
    runs: tuple[RunReport, ...] = ()
    """Runs of the workload, with telemetry."""


def build_confirmations(
    study: Study, compared: Sequence[ComparisonResult], trials: Sequence[TrialRow]
) -> dict[str, dict[str, ConfirmationReport | None]]:
    """Confirm the selected comparisons, by workload and configuration.

    None: a comparison with fewer than two blocks of trials.
    """
    found: dict[str, dict[str, ConfirmationReport | None]] = {}
    selected = select_confirmations(study, compared)
    for result in compared:
        own = result.configuration
        if own in selected.get(result.workload, ()):
            found.setdefault(result.workload, {})[own] = _confirm(study, result, trials)
    return found


def describe_disagreements(reports: Sequence[SwitchbackReport], factor: str = "") -> Iterator[str]:
    """Describe every confirmation that contradicts the windows.

    ``factor`` is the one that varies alone, if any.
    """
    for own in reports:
        for found in own.confirmations:
            if found.outcome is ConfirmationOutcome.DISAGREE:
                name = name_configuration(found.configuration, factor)
                yield (
                    f"Whole trials contradict the windows of {name} on "
                    f"{own.workload}: {format_change_interval(found.change, found.interval)} in "
                    "whole trials, "
                    f"{format_change_interval(found.windows_change, found.windows_interval)} in "
                    "windows. Use whole trials (decide: {mode: trials})."
                )


def suggest_whole_trials(reports: Sequence[SwitchbackReport]) -> Iterator[Step]:
    """Suggest a study of whole trials if a confirmation contradicts the windows."""
    if any(describe_disagreements(reports)):
        yield Step(
            text="Run a new study with decide: {mode: trials}, because whole trials contradict the "
            "windows. Do not follow the other steps before."
        )


def _confirm(
    study: Study, result: ComparisonResult, trials: Sequence[TrialRow]
) -> ConfirmationReport | None:
    values = collect_figures(study, trials)
    base = values.get((result.workload, study.baseline.label), {})
    other = values.get((result.workload, result.configuration), {})
    common = sorted(base.keys() & other.keys())
    windows = result.comparison
    if len(common) < 2 or windows.blocks < 2:
        return None
    ratios = PairedRuns.from_figures(
        [base[block] for block in common],
        [other[block] for block in common],
        higher_is_better=windows.higher_is_better,
    ).differences
    agreement = measure_agreement(
        PairedMean(float(ratios.mean()), float(ratios.std(ddof=1)), len(ratios)),
        PairedMean(windows.estimate, windows.sd, windows.blocks),
        windows.interval,
        decision_rule(study).delta,
    )
    return _report(result.configuration, ratios, windows, agreement)


def _report(
    configuration: str,
    ratios: np.ndarray[tuple[int], np.dtype[np.float64]],
    windows: Comparison,
    found: Agreement,
) -> ConfirmationReport:
    higher = windows.higher_is_better
    sign = 1 if higher else -1
    return ConfirmationReport(
        configuration=configuration,
        blocks=len(ratios),
        change=as_fraction(sign * float(ratios.mean())),
        interval=_span(mean_interval(ratios, 1 - CONFIDENCE), higher=higher),
        windows_change=windows.change,
        windows_interval=build_span(windows.change_interval),
        difference=as_fraction(sign * found.difference),
        difference_interval=_span(Interval(found.low, found.high), higher=higher),
        outcome=found.outcome,
        blocks_needed=found.blocks_needed,
    )


def _span(interval: Interval, *, higher: bool) -> Span:
    """Return an interval of log-ratios as changes of the figure."""
    low, high = (interval if higher else interval.mirrored()).as_fractions()
    return Span(low=low, high=high)


def build_runs(
    study: Study,
    request: WorkloadRequest,
    circumstances: Mapping[str, Any],
    rows: SwitchbackRows,
    samples: ReadSamples | None,
) -> tuple[RunReport, ...]:
    """Describe every run of a workload."""
    runs = rows.by_run(request.label)
    points = collect_operating_points(run.summary for run, _ in runs)
    return tuple(
        _describe(study, request, circumstances, run, points).model_copy(
            update={"windows": len(windows), "notes": (*run.notes, *_list_problems(run, samples))}
        )
        for run, windows in runs
    )


def _list_problems(run: RunRow, samples: ReadSamples | None) -> Iterator[str]:
    """Yield why the samples of a run, and so the covariates of its windows, are missing."""
    if samples is None or run.telemetry == NO_SAMPLES:
        return
    try:
        samples(run.telemetry, WINDOW_COLUMNS[:1])
    except LedgerError as error:
        yield f"no covariates by configuration: {error.where}: {error.found}"


def _describe(
    study: Study,
    request: WorkloadRequest,
    circumstances: Mapping[str, Any],
    run: RunRow,
    points: Mapping[str, tuple[OperatingPoint, ...]],
) -> RunReport:
    """The run has no figures of its own: each window has."""
    options = apply_configuration(request, study.baseline)
    context = build_trial_context(
        circumstances, run.devices, request.name, options, points, figures={}
    )
    return RunReport(
        windows=0,
        started_at=run.started_at,
        seconds=run.summary.seconds,
        shares=compute_covariates(run.summary),
        diagnosis=build_diagnosis(diagnose(run.summary, context)),
        notes=run.notes,
    )


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
            yield _build_describe(study, request, plans[request.label], rows).model_copy(
                update={
                    "confirmations": tuple(filter(None, own.values())),
                    "unconfirmed": tuple(label for label, each in own.items() if each is None),
                    "runs": build_runs(study, request, circumstances, rows, samples),
                }
            )


def _build_describe(
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


_USE_TRIALS = "Use whole trials (decide: {mode: trials})."


def describe_plan(row: PlanRow) -> str:
    """Describe the planned windows, or the reason for their absence."""
    plan = row.plan
    if not isinstance(plan, WindowPlan):
        return f"whole trials decide: {row.reason}"
    return (
        f"{row.workload}: windows of {format_seconds(plan.window_seconds)} after a washout of "
        f"{format_seconds(plan.washout_seconds)}; a block takes "
        f"{format_seconds(plan.block_seconds)}"
    )


def describe_confirmation(workload: str, own: ConfirmationReport, factor: str = "") -> str:
    """A confirmation with its outcome, and what would decide an undecided one.

    ``factor`` is the one that varies alone, if any.
    """
    label = name_configuration(own.configuration, factor)
    difference = format_interval(own.difference_interval)
    match own.outcome:
        case ConfirmationOutcome.AGREE:
            found = f"agree within the margin (difference {difference} %)"
        case ConfirmationOutcome.DISAGREE:
            found = f"disagree (difference {difference} %). {_USE_TRIALS.removesuffix('.')}"
        case ConfirmationOutcome.UNDECIDED:
            found = f"are too imprecise (difference {difference} %): {_needed(own)}"
        case _:
            assert_never(own.outcome)
    return f"Confirmation of {label} on {workload}: trials and windows {found}."


def _needed(own: ConfirmationReport) -> str:
    if own.blocks_needed is None:
        return f"{MOST_BLOCKS} blocks of whole trials would not decide"
    return f"about {own.blocks_needed} blocks of whole trials would decide"


_EXPLANATION = (
    "One run of each workload continued while the configurations were switched. A pair of rounds "
    "measures two windows of each configuration, in random order and in the reverse order. The "
    "washout after each switch is discarded. The verdicts hold for steady load after a "
    "switch. Earlier versions had a pilot, single rounds, and a washout for each configuration."
)


def build_switchback_section(report: Report) -> Section | None:
    """None for a study of whole trials."""
    if not report.switchback:
        return None
    return Section(
        name="switchback",
        title="Windows",
        notes=(_EXPLANATION, *_notes(report)),
        draw=lambda: _charts(report),
        tables=(_plan_table(report), *_confirmation_tables(report), *_run_tables(report)),
    )


def _charts(report: Report) -> Iterator[Chart]:

    if any(own.confirmations for own in report.switchback):
        yield build_confirmation_chart(report)


def _notes(report: Report) -> Iterator[str]:
    for own in report.switchback:
        for confirmation in own.confirmations:
            yield describe_confirmation(own.workload, confirmation, report.factor)
        if own.unconfirmed:
            names = [name_configuration(label, report.factor) for label in own.unconfirmed]
            yield f"Too few whole trials ran to confirm {join_words(names)} on {own.workload}."


def _plan_table(report: Report) -> TextTable:
    heads = (
        "workload",
        "window",
        "washout",
        "rounds a block",
        "blocks",
        "windows",
        "measured in",
        "bias included",
    )
    rows = [_plan_row(own) for own in report.switchback]
    return TextTable("", heads, rows, names=1)


def _plan_row(own: SwitchbackReport) -> tuple[str, ...]:
    return (
        own.workload,
        format_seconds(own.window_seconds),
        format_seconds(own.washout_seconds),
        str(own.rounds_per_block),
        str(own.blocks),
        str(own.windows),
        format_seconds(own.measuring_seconds),
        format_percent(own.bias),
    )


def _confirmation_tables(report: Report) -> Iterator[TextTable]:
    rows = [
        (
            own.workload,
            each.configuration,
            format_change_interval(each.windows_change, each.windows_interval),
            format_change_interval(each.change, each.interval),
            format_interval(each.difference_interval),
            format_count(each.blocks, "block"),
            _outcome(each.outcome),
        )
        for own in report.switchback
        for each in own.confirmations
    ]
    if rows:
        heads = (
            "workload",
            report.noun,
            "in windows",
            "in whole trials",
            "difference",
            "trials",
            "outcome",
        )
        yield TextTable("Confirmation by whole trials", heads, rows, names=2)


def _outcome(outcome: ConfirmationOutcome) -> str:
    return f"{outcome}s" if outcome is not ConfirmationOutcome.UNDECIDED else str(outcome)


def _run_tables(report: Report) -> Iterator[TextTable]:
    rows = [_run_row(own.workload, run) for own in report.switchback for run in own.runs]
    if rows:
        heads = (
            "workload",
            "windows",
            "duration",
            *(f"{each}, %" for each in Covariate),
            "bottleneck",
        )
        yield TextTable(
            "Telemetry of the runs, under all configurations together",
            heads,
            rows,
            names=1,
            words=1,
        )


def _run_row(workload: str, run: RunReport) -> tuple[str, ...]:
    return (
        workload,
        str(run.windows),
        format_seconds(run.seconds),
        *(_share(run, each) for each in Covariate),
        run.diagnosis.sentence,
    )


def _share(run: RunReport, covariate: Covariate) -> str:
    share = run.shares.get(covariate)
    return UNKNOWN if share is None else format_percent(share).removesuffix(" %")


_ROW_HEIGHT = 44
_MEASURED = ["windows", "whole trials"]
"""The measurements that the chart compares."""


def build_confirmation_chart(report: Report) -> Chart:
    """The change of every confirmed comparison in windows and in whole trials."""
    rows = [
        {
            "comparison": f"{each.configuration} on {own.workload}",
            "measured": measured,
            "change": _percent(change),
            "low": _percent(span.low),
            "high": _percent(span.high),
        }
        for own in report.switchback
        for each in own.confirmations
        for measured, change, span in (
            (_MEASURED[0], each.windows_change, each.windows_interval),
            (_MEASURED[1], each.change, each.interval),
        )
        if span is not None
    ]
    margin = 100 * report.method.margin
    band = [{"low": -margin, "high": margin}]
    colour = alt.Color("measured:N", legend=make_legend(_MEASURED)).scale(
        domain=_MEASURED, range=[BLUE, RED]
    )
    y = alt.Y("comparison:N", title="", sort=None)
    offset = alt.YOffset("measured:N", sort=_MEASURED)
    x = alt.X("low:Q", title="change against the baseline, %", axis=alt.Axis(format="+.0f"))
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, yOffset=offset, color=colour)
    layers = [
        alt.Chart(alt.InlineData(values=band)).mark_rect(opacity=0.1).encode(x=x, x2="high:Q"),
        base.mark_rule(strokeWidth=1.8).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=alt.X("change:Q")),
    ]
    height = _ROW_HEIGHT * len({row["comparison"] for row in rows})
    return Chart(
        make_chart(layers, height=height, title="Confirmation by whole trials"),
        "Chart of the change of each confirmed comparison in windows and in whole trials; the "
        "table below has the figures.",
        "Point: change. Line: interval, of windows that of the verdict, of whole trials at 95 %. "
        "Band: the margin.",
    )


def _percent(change: float) -> float:
    """Return a change, a fraction, in percent."""
    return float(f"{100 * change:.4g}")
