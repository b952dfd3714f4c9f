"""Report section on windows: plan, confirmation and telemetry."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_interval,
    join_words,
)
from iostudy.report.section import Chart, Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.switchback.text import describe_confirmation
from iostudy.report.topics.switchback.values import RunReport, SwitchbackReport
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.values import Report
from iostudy.telemetry.covariates import Covariate
from iostudy.units import format_percent, format_seconds

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
        charts=tuple(_charts(report)),
        tables=(_plan_table(report), *_confirmation_tables(report), *_run_tables(report)),
    )


def _charts(report: Report) -> Iterator[Chart]:
    # Imported here: what draws takes long to load.
    from iostudy.report.topics.switchback.chart import build_confirmation_chart

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
