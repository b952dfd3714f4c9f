"""Windows of every workload: plan, confirmation and telemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from pydantic import FiniteFloat

from iostudy.analysis.paired import Interval, PairedRuns, as_fraction, mean_interval
from iostudy.analysis.switchback.confirmation import (
    CONFIDENCE,
    MOST_BLOCKS,
    ConfirmationOutcome,
    PairedMean,
    measure_agreement,
)
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.diagnosis.context import collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.errors import LedgerError
from iostudy.ledger.rows import NO_SAMPLES, PlanRow, SwitchbackRows, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.base import OnWorkload, Span, Step, UnderConfiguration, Value, build_span
from iostudy.report.drawing import BLUE, RED, alt, make_chart, make_legend
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_interval,
    join_words,
    name_configuration,
)
from iostudy.report.section import Chart, Section, make_table
from iostudy.report.topics.covariates import format_share
from iostudy.report.topics.diagnosis import DiagnosisReport, build_diagnosis, build_trial_context
from iostudy.results.comparisons import (
    BlockFigures,
    ComparisonResult,
    collect_figures,
    decision_rule,
)
from iostudy.results.recommendation import select_confirmations
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.covariates import WINDOW_COLUMNS, Covariate, compute_covariates
from iostudy.units import format_percent, format_seconds

if TYPE_CHECKING:
    from iostudy.report.values import Report


class ConfirmationReport(UnderConfiguration):
    """A comparison of windows in whole trials; changes are fractions of the figure."""

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


class SwitchbackReport(OnWorkload):
    """The windows of one workload."""

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
    values = collect_figures(study, trials)
    for result in compared:
        own = result.configuration
        if own in selected.get(result.workload, ()):
            found.setdefault(result.workload, {})[own] = _confirm(study, result, values)
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
    study: Study, result: ComparisonResult, values: Mapping[tuple[str, str], BlockFigures]
) -> ConfirmationReport | None:
    base = values.get((result.workload, study.baseline.label), {})
    other = values.get((result.workload, result.configuration), {})
    common = sorted(base.keys() & other.keys())
    windows = result.comparison
    if len(common) < 2 or windows.blocks < 2:
        return None
    higher = windows.higher_is_better
    sign = 1 if higher else -1
    ratios = PairedRuns.from_figures(
        [base[block] for block in common],
        [other[block] for block in common],
        higher_is_better=higher,
    ).differences
    found = measure_agreement(
        PairedMean(float(ratios.mean()), float(ratios.std(ddof=1)), len(ratios)),
        PairedMean(windows.estimate, windows.sd, windows.blocks),
        windows.interval,
        decision_rule(study).delta,
    )
    return ConfirmationReport(
        configuration=result.configuration,
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
) -> Iterator[RunReport]:
    """Describe every run of a workload; it has no figures of its own: each window has."""
    runs = rows.by_run(request.label)
    points = collect_operating_points(run.summary for run, _ in runs)
    options = apply_configuration(request, study.baseline)
    for run, windows in runs:
        context = build_trial_context(
            circumstances, run.devices, request.name, options, points, figures={}
        )
        notes = list(run.notes)
        if samples is not None and run.telemetry != NO_SAMPLES:
            try:
                samples(run.telemetry, WINDOW_COLUMNS[:1])
            except LedgerError as error:
                notes.append(f"no covariates by configuration: {error.where}: {error.found}")
        yield RunReport(
            windows=len(windows),
            started_at=run.started_at,
            seconds=run.summary.seconds,
            shares=compute_covariates(run.summary),
            diagnosis=build_diagnosis(diagnose(run.summary, context)),
            notes=tuple(notes),
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
    if not find_mode(study).measures_windows:
        return
    confirmed = build_confirmations(study, compared, trials)
    plans = {own.workload: own.plan for own in rows.plans if own.plan is not None}
    for request in study.workloads:
        plan = plans.get(request.label)
        if plan is None:
            continue
        own = confirmed.get(request.label, {})
        windows = [row for row in rows.windows if row.workload == request.label]
        halves = isinstance(plan, WindowPlan)
        yield SwitchbackReport(
            workload=request.label,
            window_seconds=plan.window_seconds,
            washout_seconds=plan.washout_seconds
            if isinstance(plan, WindowPlan)
            else max(plan.washout_seconds.values()),
            blocks=len({row.block for row in windows}),
            max_blocks=study.decide.max_blocks,
            rounds_per_block=max((row.round for row in windows), default=0),
            windows=len(windows) // 2 if halves else len(windows),
            measuring_seconds=windows[-1].start + windows[-1].seconds - windows[0].start
            if windows
            else 0.0,
            bias=study.bias,
            confirmations=tuple(filter(None, own.values())),
            unconfirmed=tuple(label for label, each in own.items() if each is None),
            runs=tuple(build_runs(study, request, circumstances, rows, samples)),
        )


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


def describe_confirmation(workload: str, confirmation: ConfirmationReport, factor: str = "") -> str:
    """A confirmation with its outcome, and what would decide an undecided one.

    ``factor`` is the one that varies alone, if any.
    """
    label = name_configuration(confirmation.configuration, factor)
    difference = f"(difference {format_interval(confirmation.difference_interval)} %)"
    match confirmation.outcome:
        case ConfirmationOutcome.AGREE:
            found = f"agree within the margin {difference}"
        case ConfirmationOutcome.DISAGREE:
            found = f"disagree {difference}. Use whole trials (decide: {{mode: trials}})"
        case ConfirmationOutcome.UNDECIDED:
            found = f"are too imprecise {difference}: "
            if confirmation.blocks_needed is None:
                found += f"{MOST_BLOCKS} blocks of whole trials would not decide"
            else:
                found += f"about {confirmation.blocks_needed} blocks of whole trials would decide"
        case _:
            assert_never(confirmation.outcome)
    return f"Confirmation of {label} on {workload}: trials and windows {found}."


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
    confirmed = [(own, each) for own in report.switchback for each in own.confirmations]
    plan = make_table(
        {
            "workload": own.workload,
            "window": format_seconds(own.window_seconds),
            "washout": format_seconds(own.washout_seconds),
            "rounds a block": own.rounds_per_block,
            "blocks": own.blocks,
            "windows": own.windows,
            "measured in": format_seconds(own.measuring_seconds),
            "bias included": format_percent(own.bias),
        }
        for own in report.switchback
    )
    confirmations = make_table(
        (
            {
                "workload": own.workload,
                report.noun: each.configuration,
                "in windows": format_change_interval(each.windows_change, each.windows_interval),
                "in whole trials": format_change_interval(each.change, each.interval),
                "difference": format_interval(each.difference_interval),
                "trials": format_count(each.blocks, "block"),
                "outcome": each.outcome
                if each.outcome is ConfirmationOutcome.UNDECIDED
                else f"{each.outcome}s",
            }
            for own, each in confirmed
        ),
        "Confirmation by whole trials",
        names=2,
    )
    runs = make_table(
        (
            {
                "workload": own.workload,
                "windows": run.windows,
                "duration": format_seconds(run.seconds),
                **{f"{each}, %": format_share(run.shares.get(each), UNKNOWN) for each in Covariate},
                "bottleneck": run.diagnosis.sentence,
            }
            for own in report.switchback
            for run in own.runs
        ),
        "Telemetry of the runs, under all configurations together",
        words=1,
    )
    notes = [_EXPLANATION]
    for own in report.switchback:
        notes += [
            describe_confirmation(own.workload, each, report.factor) for each in own.confirmations
        ]
        if own.unconfirmed:
            names = [name_configuration(label, report.factor) for label in own.unconfirmed]
            notes.append(
                f"Too few whole trials ran to confirm {join_words(names)} on {own.workload}."
            )
    return Section(
        name="switchback",
        title="Windows",
        notes=tuple(notes),
        tables=(plan, *(table for table in (confirmations, runs) if table.rows)),
        draw=lambda: [build_confirmation_chart(report)] if confirmed else [],
    )


def build_confirmation_chart(report: Report) -> Chart:
    """The change of every confirmed comparison in windows and in whole trials."""
    kinds = ["windows", "whole trials"]
    rows = [
        {
            "comparison": f"{each.configuration} on {own.workload}",
            "measured": kind,
            **{
                name: float(f"{100 * value:.4g}")
                for name, value in (("change", change), ("low", span.low), ("high", span.high))
            },
        }
        for own in report.switchback
        for each in own.confirmations
        for kind, change, span in (
            (kinds[0], each.windows_change, each.windows_interval),
            (kinds[1], each.change, each.interval),
        )
        if span is not None
    ]
    margin = 100 * report.method.margin
    band = [{"low": -margin, "high": margin}]
    colour = alt.Color("measured:N", legend=make_legend(kinds)).scale(
        domain=kinds, range=[BLUE, RED]
    )
    y = alt.Y("comparison:N", title="", sort=None)
    offset = alt.YOffset("measured:N", sort=kinds)
    x = alt.X("low:Q", title="change against the baseline, %", axis=alt.Axis(format="+.0f"))
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, yOffset=offset, color=colour)
    layers = [
        alt.Chart(alt.InlineData(values=band)).mark_rect(opacity=0.1).encode(x=x, x2="high:Q"),
        base.mark_rule(strokeWidth=1.8).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=alt.X("change:Q")),
    ]
    height = 44 * len({row["comparison"] for row in rows})
    return Chart(
        make_chart(layers, height=height, title="Confirmation by whole trials"),
        "Chart of the change of each confirmed comparison in windows and in whole trials; the "
        "table below has the figures.",
        "Point: change. Line: interval, of windows that of the verdict, of whole trials at 95 %. "
        "Band: the margin.",
    )
