"""Windows of every workload: plan, confirmation and telemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import FiniteFloat

from iostudy.analysis.paired import Interval, as_fraction
from iostudy.analysis.switchback.confirmation import MOST_BLOCKS, ConfirmationOutcome
from iostudy.analysis.switchback.window_plan import HALVES, WindowPlan
from iostudy.diagnosis.context import collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.errors import LedgerError
from iostudy.ledger.rows import NO_SAMPLES, PlanRow
from iostudy.report.base import (
    DiagnosisReport,
    OnWorkload,
    Span,
    Step,
    UnderConfiguration,
    Value,
    build_span,
)
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_interval,
    join_words,
    name_configuration,
)
from iostudy.report.section import Section, make_table
from iostudy.report.topics.covariates import format_share
from iostudy.results.comparisons import BlockFigures, ComparisonResult, collect_figures
from iostudy.results.recommendation import confirm, select_confirmations
from iostudy.results.recorded_study import RecordedStudy
from iostudy.results.trial_contexts import build_run_context
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.covariates import WINDOW_COLUMNS, Covariate, compute_covariates
from iostudy.units import format_percent, format_seconds


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

    @property
    def in_trials(self) -> str:
        """The change in whole trials with its interval."""
        return format_change_interval(self.change, self.interval)

    @property
    def in_windows(self) -> str:
        """The change in windows with its interval."""
        return format_change_interval(self.windows_change, self.windows_interval)

    @property
    def says(self) -> str:
        """The outcome, and what would decide an undecided one."""
        if self.outcome is not ConfirmationOutcome.UNDECIDED:
            return f"{self.outcome}s"
        if self.blocks_needed is None:
            return f"{self.outcome}: {MOST_BLOCKS} blocks of whole trials would not decide"
        return f"{self.outcome}: about {self.blocks_needed} blocks would decide"


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
    """Configurations without a confirmation: fewer than two blocks of whole trials ran, or a block
    of windows failed."""
    runs: tuple[RunReport, ...] = ()
    """Runs of the workload, with telemetry."""


def describe_disagreements(reports: Sequence[SwitchbackReport], factor: str = "") -> Iterator[str]:
    """Describe every confirmation that contradicts the windows.

    ``factor`` is the one that varies alone, if any.
    """
    for report in reports:
        for confirmation in report.confirmations:
            if confirmation.outcome is ConfirmationOutcome.DISAGREE:
                name = name_configuration(confirmation.configuration, factor)
                yield (
                    f"Whole trials contradict the windows of {name} on {report.workload}: "
                    f"{confirmation.in_trials} in whole trials, {confirmation.in_windows} in "
                    "windows. Use whole trials (decide: {mode: trials})."
                )


WHOLE_TRIALS = Step(
    text="Run a new study with decide: {mode: trials}, because whole trials contradict the "
    "windows. Do not follow the other steps before."
)
"""Remedy if whole trials contradict the windows."""


def _confirm(
    study: Study, result: ComparisonResult, figures: Mapping[tuple[str, str], BlockFigures]
) -> ConfirmationReport | None:
    confirmed, windows = confirm(study, result, figures), result.comparison
    if confirmed is None:
        return None
    trials, agreement = confirmed
    return ConfirmationReport.copy_from(
        agreement,
        configuration=result.configuration,
        blocks=trials.count,
        change=as_fraction(trials.mean),
        interval=_span(trials.interval),
        windows_change=windows.change,
        windows_interval=build_span(windows.change_interval),
        difference=as_fraction(agreement.difference),
        difference_interval=_span(Interval(agreement.low, agreement.high)),
    )


def _span(interval: Interval) -> Span:
    """Return an interval of log-ratios of the figure as changes."""
    low, high = interval.as_fractions()
    return Span(low=low, high=high)


def _build_runs(
    recorded: RecordedStudy, request: WorkloadRequest, window_rows: int
) -> Iterator[RunReport]:
    """Describe every run of a workload; the figures are those of windows of so many rows each."""
    runs = recorded.switchback.by_run(request.label)
    points = collect_operating_points(run.summary for run, _ in runs)
    options = apply_configuration(request, recorded.study.baseline)
    for run, windows in runs:
        context = build_run_context(
            recorded.row.circumstances, run.devices, request.name, options, points
        )
        notes = list(run.notes)
        if recorded.samples is not None and run.telemetry != NO_SAMPLES:
            try:
                recorded.samples(run.telemetry, WINDOW_COLUMNS[:1])
            except LedgerError as error:
                notes.append(f"no covariates by configuration: {error.where}: {error.found}")
        yield RunReport(
            windows=len(windows) // window_rows,
            started_at=run.started_at,
            seconds=run.summary.seconds,
            shares=compute_covariates(run.summary),
            diagnosis=DiagnosisReport.copy_from(diagnose(run.summary, context)),
            notes=tuple(notes),
        )


def build_switchback(
    recorded: RecordedStudy, compared: Sequence[ComparisonResult]
) -> Iterator[SwitchbackReport]:
    """Describe the windows of every workload with a plan, if they decide.

    Trials are those of the confirmation.
    """
    study, rows = recorded.study, recorded.switchback
    if not find_mode(study).measures_windows:
        return
    selected = select_confirmations(study, compared)
    values = collect_figures(study, recorded.trials)
    plans = {plan.workload: plan.plan for plan in rows.plans if plan.plan is not None}
    for request in study.workloads:
        plan = plans.get(request.label)
        if plan is None:
            continue
        # None with fewer than two blocks of trials, or without a standard deviation of the windows.
        confirmed = {
            result.configuration: _confirm(study, result, values)
            for result in compared
            if result.workload == request.label
            and result.configuration in selected.get(request.label, ())
        }
        windows = [row for row in rows.windows if row.workload == request.label]
        washouts = plan.washout_seconds
        window_rows = HALVES if isinstance(plan, WindowPlan) else 1
        yield SwitchbackReport(
            workload=request.label,
            window_seconds=plan.window_seconds,
            washout_seconds=max(washouts.values()) if isinstance(washouts, Mapping) else washouts,
            blocks=len({row.block for row in windows}),
            max_blocks=study.decide.max_blocks,
            rounds_per_block=max((row.round for row in windows), default=0),
            windows=len(windows) // window_rows,
            measuring_seconds=windows[-1].start + windows[-1].seconds - windows[0].start
            if windows
            else 0.0,
            bias=study.bias,
            confirmations=tuple(filter(None, confirmed.values())),
            unconfirmed=tuple(label for label, report in confirmed.items() if report is None),
            runs=tuple(_build_runs(recorded, request, window_rows)),
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


_EXPLANATION = (
    "One run of each workload continued while the configurations were switched. A pair of rounds "
    "measures two windows of each configuration, in random order and in the reverse order. The "
    "washout after each switch is discarded. The verdicts hold for steady load after a "
    "switch. Earlier versions had a pilot, single rounds, and a washout for each configuration."
)


def build_switchback_section(
    reports: Sequence[SwitchbackReport], noun: str, factor: str
) -> Section | None:
    """None for a study of whole trials."""
    if not reports:
        return None
    plan = make_table(
        {
            "workload": switchback.workload,
            "window": format_seconds(switchback.window_seconds),
            "washout": format_seconds(switchback.washout_seconds),
            "rounds a block": switchback.rounds_per_block,
            "blocks": switchback.blocks,
            "windows": switchback.windows,
            "measured in": format_seconds(switchback.measuring_seconds),
            "bias included": format_percent(switchback.bias),
        }
        for switchback in reports
    )
    confirmations = (
        {
            "workload": switchback.workload,
            noun: confirmation.configuration,
            "in windows": confirmation.in_windows,
            "in whole trials": confirmation.in_trials,
            "difference": format_interval(confirmation.difference_interval),
            "trials": format_count(confirmation.blocks, "block"),
            "outcome": confirmation.says,
        }
        for switchback in reports
        for confirmation in switchback.confirmations
    )
    runs = (
        {
            "workload": switchback.workload,
            "windows": run.windows,
            "duration": format_seconds(run.seconds),
            **{f"{name}, %": format_share(run.shares.get(name), UNKNOWN) for name in Covariate},
            "bottleneck": run.diagnosis.sentence,
        }
        for switchback in reports
        for run in switchback.runs
    )
    unconfirmed = (
        f"Nothing confirms {join_words(names)} on {switchback.workload}: too few whole trials ran, "
        "or a block of windows failed."
        for switchback in reports
        if (names := [name_configuration(label, factor) for label in switchback.unconfirmed])
    )
    telemetry = "Telemetry of the runs, under all configurations together"
    tables = (
        plan,
        make_table(confirmations, "Confirmation by whole trials", names=2, words=1),
        make_table(runs, telemetry, words=1),
    )
    return Section(
        "switchback",
        "Windows",
        (_EXPLANATION, *unconfirmed),
        tables=[table for table in tables if table.rows],
    )
