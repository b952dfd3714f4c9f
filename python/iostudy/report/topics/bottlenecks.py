"""Bottlenecks of configurations, timelines and disturbances."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence, Evidence
from iostudy.errors import LedgerError
from iostudy.ledger.rows import TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.ledger.studies import NODES
from iostudy.report.base import OfConfiguration
from iostudy.report.drawing import COLOURS, encode_labels, field, layer, make_chart
from iostudy.report.formatting import format_count, name_configuration
from iostudy.report.section import Chart, Section, make_table
from iostudy.report.topics.telemetry import group_counted_trials
from iostudy.results.trial_contexts import prepare_trial_contexts
from iostudy.study.model import Study
from iostudy.telemetry.timeline import (
    TOO_SHORT,
    Timeline,
    TimelineSeries,
    build_timeline,
    list_timeline_columns,
)

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


Diagnoses = Mapping[int, Diagnosis]
"""Diagnoses of trials by their ids."""


class BottleneckReport(OfConfiguration):
    """Bottleneck of one configuration on one workload, over its counted trials."""

    trials: int
    """Number of counted trials."""
    limits: dict[Bottleneck, int]
    """Number of trials by bottleneck, the most frequent first."""
    limit: Bottleneck
    """Bottleneck of the typical trial."""
    of: str
    """Device, interface, mount or process of the bottleneck; empty for the whole host."""
    confidence: Confidence | None
    """Confidence in the bottleneck. Low if fewer than three trials in four share it, else that
    of the typical trial; null if it is unclear."""
    typical_confidence: Confidence | None
    """Confidence of the typical trial, as in its ``sentence``."""
    typical: int
    """Number of the typical trial.

    It has the most frequent limit, and a figure nearest the median of the configuration.
    """
    sentence: str
    """The diagnosis of the typical trial."""
    no_help: str
    """The most that a faster device could save, if three trials in four have another bottleneck;
    else empty."""
    busy: Evidence | None
    """The largest utilization of a device in the typical trial; null if unknown."""
    evidence: tuple[Evidence, ...]
    """Evidence from the typical trial."""
    timeline: Timeline | None
    """Timeline of the typical trial."""
    no_timeline: str
    """Why there is no timeline; empty with one, or if none was requested."""


class DisturbanceSource(StrEnum):
    """An external disturbance, not caused by the study's factors or workloads."""

    FOREIGN = "another process"
    STEAL = "the hypervisor"
    HEAT = "the heat of the CPU"


class DisturbanceReport(OfConfiguration):
    """Counted trials that something outside the study limited."""

    disturbance: DisturbanceSource
    """The disturbance."""
    trials: int
    """Number of counted trials with it."""
    sentence: str
    """The first such trial in a sentence."""


MOST_TIMELINES = 40
"""Limit per report: each timeline needs a file and a chart."""

_MOST_SHARE = 0.75
"""Share of the trials below which a limit has low confidence."""
_FROM_OUTSIDE = {
    Bottleneck.FOREIGN: DisturbanceSource.FOREIGN,
    Bottleneck.STEAL: DisturbanceSource.STEAL,
    Bottleneck.HEAT: DisturbanceSource.HEAT,
}


def diagnose_trials(
    study: Study, circumstances: Mapping[str, Any], rows: Sequence[TrialRow]
) -> dict[int, Diagnosis]:
    """Return the diagnosis of each counted trial by its id; none if simulated or joint."""
    if study.target.predicts or NODES in circumstances:
        return {}
    build_context = prepare_trial_contexts(study, circumstances, rows)
    return {
        row.id: diagnose(row.summary, build_context(row))
        for row in rows
        if row.counts and row.summary is not None
    }


def build_bottlenecks(
    study: Study, rows: Sequence[TrialRow], diagnoses: Diagnoses, samples: ReadSamples | None
) -> tuple[BottleneckReport, ...]:
    """One for each workload and configuration with a diagnosed trial, in the study's order.

    ``rows`` are in run order. Without ``samples`` there are no timelines.
    """
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    return tuple(
        _summarize(trials, diagnoses, figures[workload], samples, has_room=index < MOST_TIMELINES)
        for index, ((workload, _), trials) in enumerate(_diagnosed(study, rows, diagnoses).items())
    )


def _diagnosed(
    study: Study, rows: Sequence[TrialRow], diagnoses: Diagnoses
) -> dict[tuple[str, str], list[tuple[int, TrialRow]]]:
    """Diagnosed trials with their numbers by workload and configuration."""
    numbers = {row.id: number for number, row in enumerate(rows, start=1)}
    return {
        pair: trials
        for pair, counted in group_counted_trials(study, rows).items()
        if (trials := [(numbers[row.id], row) for row in counted if row.id in diagnoses])
    }


def _summarize(
    trials: Sequence[tuple[int, TrialRow]],
    diagnoses: Diagnoses,
    figure: str,
    samples: ReadSamples | None,
    *,
    has_room: bool,
) -> BottleneckReport:
    limits = Counter(diagnoses[row.id].limit for _, row in trials)
    # A known bottleneck precedes an unclear one that as many trials have.
    ranked = sorted(limits, key=lambda limit: (-limits[limit], limit is Bottleneck.UNCLEAR))
    # A run that gave no figure of the verdict failed, and has a diagnosis all the same.
    values = {
        row.id: row.figures[figure] for _, row in trials if row.figures and figure in row.figures
    }
    middle = statistics.median(values.values() or [0.0])
    having = [(number, row) for number, row in trials if diagnoses[row.id].limit is ranked[0]]
    number, typical = min(having, key=lambda pair: abs(values.get(pair[1].id, math.inf) - middle))
    diagnosis = diagnoses[typical.id]
    main = diagnosis.findings[0] if diagnosis.findings else None
    shared = limits[ranked[0]] >= _MOST_SHARE * len(trials)
    line, why_not = None, ""
    if samples is not None and not has_room:
        why_not = f"{typical.telemetry.name}: more configurations and workloads"
    elif samples is not None:
        try:
            read = samples(typical.telemetry, list_timeline_columns(typical.devices))
            line = build_timeline(read, typical.devices)
            why_not = "" if line else TOO_SHORT
        except LedgerError as error:
            why_not = f"{error.where}: {error.found}"
    return BottleneckReport.copy_from(
        diagnosis,
        workload=typical.workload,
        configuration=typical.configuration,
        trials=len(trials),
        limits={limit: limits[limit] for limit in ranked},
        of=main.of if main else "",
        confidence=(main.confidence if shared else Confidence.LOW) if main else None,
        typical_confidence=main.confidence if main else None,
        typical=number,
        no_help=diagnosis.no_help if shared else "",
        evidence=main.evidence if main else diagnosis.key_figures,
        timeline=line,
        no_timeline=why_not,
    )


def build_disturbances(
    study: Study, rows: Sequence[TrialRow], diagnoses: Diagnoses
) -> Iterator[DisturbanceReport]:
    """Trials that count and that something outside the study has limited."""
    for (workload, configuration), trials in _diagnosed(study, rows, diagnoses).items():
        sentences: dict[DisturbanceSource, list[str]] = {}
        for _, row in trials:
            for finding in diagnoses[row.id].findings[:1]:
                if finding.limit in _FROM_OUTSIDE and finding.confidence is not Confidence.LOW:
                    source = _FROM_OUTSIDE[finding.limit]
                    sentences.setdefault(source, []).append(finding.sentence)
        for source, texts in sentences.items():
            yield DisturbanceReport(
                workload=workload,
                configuration=configuration,
                disturbance=source,
                trials=len(texts),
                sentence=texts[0],
            )


_LIMITED = (
    "Diagnosed for each counted trial from its telemetry, by the rules in “What limited a run” of "
    "iostudy’s documentation (telemetry.md). The evidence is that of the typical trial: among "
    "those with the most frequent bottleneck, the one whose figure is nearest the median."
)
_TIMELINES = (
    "The charts show that trial: shares of time, and dirty pages as a share of the threshold at "
    "which the kernel throttles writers."
)


def build_bottleneck_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """Return the bottleneck of each configuration, if known, and reasons for missing timelines."""
    limited = [limit for limit in report.limits if limit.workload == workload.label]
    if not limited:
        return
    notes = [_LIMITED]
    if any(limit.timeline for limit in limited):
        notes.append(_TIMELINES)
    short = [limit for limit in limited if limit.no_timeline == TOO_SHORT]
    missing = [limit for limit in limited if limit.no_timeline and limit not in short]
    for without in filter(None, (short, missing)):
        name = name_configuration(without[0].configuration, report.factor)
        if len(without) > 1:
            name = format_count(len(without), "configuration")
        notes.append(f"No timeline of {name}: {without[0].no_timeline}.")
    rows = (
        {
            report.noun: limit.configuration,
            "limited by": describe_limits(limit),
            "confidence": _describe_confidence(limit),
            "evidence": ", ".join(evidence.says for evidence in limit.evidence)
            + (f". {limit.no_help}." if limit.no_help else ""),
        }
        for limit in limited
    )
    table = make_table(rows, words=3)
    yield Section(
        "limits",
        "Bottlenecks",
        notes,
        leading_tables=(table,),
        draw=lambda: build_timeline_charts(workload, report),
    )


def describe_limits(bottleneck: BottleneckReport) -> str:
    """``the device sda, in 9 of 10 trials; unclear in 1``."""
    (first, most), *others = bottleneck.limits.items()
    trials = format_count(bottleneck.trials, "trial")
    rest = (f"{_named(limit)} in {number}" for limit, number in others)
    return "; ".join((f"{_named(first, bottleneck.of)}, in {most} of {trials}", *rest))


def _describe_confidence(bottleneck: BottleneckReport) -> str:
    """Return the confidence, with the reason if it differs from the typical trial's."""
    if bottleneck.confidence is None or bottleneck.confidence is bottleneck.typical_confidence:
        return bottleneck.confidence or ""
    shared = f"{bottleneck.limits[bottleneck.limit]} of {format_count(bottleneck.trials, 'trial')}"
    alone = f"{bottleneck.typical_confidence} in trial {bottleneck.typical}"
    return f"{bottleneck.confidence}, as {shared} share it ({alone})"


def _named(limit: Bottleneck, of: str = "") -> str:
    return str(limit) if limit is Bottleneck.UNCLEAR else limit.subject(of)


def build_timeline_charts(workload: WorkloadReport, report: Report) -> Iterator[Chart]:
    """One for each configuration with a timeline, all with the same lines and on the same axes."""
    limited = [limit for limit in report.limits if limit.workload == workload.label]
    timelines = [(limit, limit.timeline) for limit in limited if limit.timeline]
    every = [series for _, line in timelines for series in line.series]
    if not every:
        return
    lines = list(dict.fromkeys(map(_name, every)))
    highest = max(value for series in every for value in series.values if value is not None)
    longest = max(line.seconds[-1] for _, line in timelines)
    scale, axis = {"domain": [0, longest], "nice": False}, {"tickCount": 5, "grid": False}
    x = field("seconds:Q", title="seconds", scale=scale, axis=axis)
    scale = {"domain": [0, max(100.0, highest)]}
    y = field("percent:Q", title="%", scale=scale, axis={"tickCount": 3})
    dashes = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
    colour, dash = encode_labels(lines, COLOURS, dashes, name="part")
    encoding = {"x": x, "y": y, "color": colour, "strokeDash": dash}
    look = {"interpolate": "step-before", "strokeWidth": 1.6, "opacity": 0.9}
    for limit, line in timelines:
        # A step from the end of each stretch to the one before, the first of them to the start.
        rows = [
            {"part": _name(series), "seconds": seconds, "percent": value}
            for series in line.series
            for seconds, value in zip(
                (0.0, *line.seconds), (series.values[0], *series.values), strict=True
            )
        ]
        known = {
            _name(series): [value for value in series.values if value is not None]
            for series in line.series
        }
        said = (
            f"{part} {min(values):.0f} to {max(values):.0f} %" for part, values in known.items()
        )
        if rows:
            drawn = [layer(rows, "line", encoding, **look)]
            spec = make_chart(drawn, height=130, title=limit.configuration.split(", "))
            text = f"{limit.configuration}, trial {limit.typical}: {'; '.join(said)}"
            yield Chart(spec, text, "", name="timeline")


def _name(series: TimelineSeries) -> str:
    return " ".join(filter(None, (series.of, series.name)))
