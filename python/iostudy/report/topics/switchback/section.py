"""Report section on windows: response curves, window choice, carry-over and confirmation."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import format_change_interval, format_count
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.switchback.chart import build_response_chart
from iostudy.report.topics.switchback.values import CarryOverReport, SwitchbackReport
from iostudy.report.values import Report
from iostudy.units import format_percent, format_seconds

_EXPLANATION = (
    "One run of each workload continued while the configurations were switched in random order. "
    "The washout after each switch is discarded, the window after it is measured. The pilot chose "
    "both and decides nothing. The verdicts hold for steady load after a switch."
)


def build_switchback_section(report: Report) -> Section | None:
    """None for a study of whole trials."""
    if not report.switchback:
        return None
    return Section(
        name="switchback",
        title="Windows",
        notes=(_EXPLANATION, *_notes(report)),
        charts=tuple(
            build_response_chart(own, report) for own in report.switchback if own.responses
        ),
        tables=(_plan_table(report), _washout_table(report), *_confirmation_tables(report)),
    )


def _notes(report: Report) -> Iterator[str]:
    for own in report.switchback:
        for effect in own.carry_over:
            if effect.flagged:
                yield _describe_effect(own.workload, effect)
    if not any(effect.flagged for own in report.switchback for effect in own.carry_over):
        yield "No dependence on the position or the previous configuration was detected."


def _describe_effect(workload: str, effect: CarryOverReport) -> str:
    change = format_change_interval(effect.effect, effect.interval)
    return (
        f"Carry-over on {workload}: the {effect.source} {effect.group} changes the figure by "
        f"{change}. This can bias the verdicts; confirm them by whole trials "
        "(decide: {mode: trials})."
    )


def _plan_table(report: Report) -> TextTable:
    heads = (
        "workload",
        "window",
        "blocks",
        "expected",
        "windows",
        "measured in",
        "noise of a pair",
    )
    rows = [_plan_row(own) for own in report.switchback]
    return TextTable("", heads, rows, names=1)


def _plan_row(own: SwitchbackReport) -> tuple[str, ...]:
    return (
        own.workload,
        format_seconds(own.window_seconds),
        str(own.blocks),
        str(own.expected_blocks),
        str(own.windows),
        format_seconds(own.measuring_seconds),
        format_percent(own.deviation),
    )


def _washout_table(report: Report) -> TextTable:
    rows = [
        (own.workload, each.configuration, format_seconds(each.washout_seconds or 0.0))
        for own in report.switchback
        for each in own.responses
    ]
    return TextTable("Washout after a switch", ("workload", report.noun, "washout"), rows, names=2)


def _confirmation_tables(report: Report) -> Iterator[TextTable]:
    known = [(own.workload, own.confirmation) for own in report.switchback if own.confirmation]
    if known:
        rows = [
            (
                workload,
                own.configuration,
                format_change_interval(own.windows_change, own.windows_interval),
                format_change_interval(own.change, own.interval),
                format_count(own.blocks, "block"),
                "" if own.agrees else "disagrees",
            )
            for workload, own in known
        ]
        heads = ("workload", report.noun, "in windows", "in whole trials", "trials", "")
        yield TextTable("Confirmation by whole trials", heads, rows, names=2)
