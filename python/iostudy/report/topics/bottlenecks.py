"""Bottlenecks of configurations, timelines and disturbances."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.confidence import Confidence
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Evidence
from iostudy.errors import LedgerError
from iostudy.ledger.rows import SamplesFile, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.ledger.studies import NODES
from iostudy.report.base import Value
from iostudy.report.drawing import COLOURS, Spec, alt, cycle_items, make_chart, make_legend
from iostudy.report.formatting import format_count
from iostudy.report.names import name_configuration
from iostudy.report.section import Chart, Section, TextTable
from iostudy.report.topics.diagnosis import (
    Diagnoses,
    EvidenceReport,
    TrialContexts,
    build_evidence,
)
from iostudy.report.topics.timeline import (
    TOO_SHORT,
    Timeline,
    TimelineSeries,
    build_timeline,
    list_timeline_columns,
)
from iostudy.study.model import Study
from iostudy.telemetry.samples import Samples

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


class BottleneckReport(Value):
    """Bottleneck of one configuration on one workload, over its counted trials."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
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
    busy: EvidenceReport | None
    """The largest utilization of a device in the typical trial; null if unknown."""
    evidence: tuple[EvidenceReport, ...]
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


class DisturbanceReport(Value):
    """Counted trials that something outside the study limited."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
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

Counted = Mapping[tuple[str, str], list[tuple[int, TrialRow]]]


def diagnose_trials(
    study: Study, circumstances: Mapping[str, Any], rows: Sequence[TrialRow]
) -> dict[int, Diagnosis]:
    """Return the diagnosis of each counted trial by its id; none if simulated or joint."""
    if study.target.predicts or NODES in circumstances:
        return {}
    grounds = TrialContexts(study, circumstances, rows)
    return {
        row.id: diagnose(row.summary, grounds.build(row))
        for row in rows
        if row.counts and row.summary is not None
    }


def build_bottlenecks(
    study: Study, rows: Sequence[TrialRow], found: Diagnoses, samples: ReadSamples | None
) -> tuple[BottleneckReport, ...]:
    """One for each workload and configuration with a diagnosed trial, in the study's order.

    ``rows`` are in run order. Without ``samples`` there are no timelines.
    """
    return tuple(
        _limited(
            own, found, _figure(study, own[0][1]), samples if place < MOST_TIMELINES else _too_many
        )
        for place, own in enumerate(_counted(study, rows, found).values())
    )


def _counted(study: Study, rows: Sequence[TrialRow], found: Diagnoses) -> Counted:
    """Diagnosed trials with their numbers by workload and configuration."""
    pairs = [(w.label, c.label) for w in study.workloads for c in study.configurations()]
    counted: dict[tuple[str, str], list[tuple[int, TrialRow]]] = {pair: [] for pair in pairs}
    for number, row in enumerate(rows, start=1):
        if row.id in found and (row.workload, row.configuration) in counted:
            counted[row.workload, row.configuration].append((number, row))
    return {pair: own for pair, own in counted.items() if own}


def _figure(study: Study, row: TrialRow) -> str:
    return next(each.figure.name for each in study.workloads if each.label == row.workload)


def _limited(
    own: Sequence[tuple[int, TrialRow]],
    found: Diagnoses,
    figure: str,
    samples: ReadSamples | None,
) -> BottleneckReport:
    limits = Counter(found[row.id].limit for _, row in own)
    # A known bottleneck precedes an unclear one that as many trials have.
    ranked = sorted(limits, key=lambda limit: (-limits[limit], limit is Bottleneck.UNCLEAR))
    number, typical = _typical(own, found, ranked[0], figure)
    diagnosis = found[typical.id]
    shared = limits[ranked[0]] >= _MOST_SHARE * len(own)
    line, why_not = _timeline(typical, samples)
    return BottleneckReport(
        workload=typical.workload,
        configuration=typical.configuration,
        trials=len(own),
        limits={limit: limits[limit] for limit in ranked},
        limit=diagnosis.limit,
        of=diagnosis.findings[0].of if diagnosis.findings else "",
        confidence=_confidence(diagnosis, shared=shared),
        typical_confidence=_confidence(diagnosis, shared=True),
        typical=number,
        sentence=diagnosis.sentence,
        no_help=diagnosis.no_help if shared else "",
        busy=build_evidence(diagnosis.busy) if diagnosis.busy else None,
        evidence=tuple(map(build_evidence, _evidence_of(diagnosis))),
        timeline=line,
        no_timeline=why_not,
    )


def _typical(
    own: Sequence[tuple[int, TrialRow]], found: Diagnoses, limit: Bottleneck, figure: str
) -> tuple[int, TrialRow]:
    """Return the trial with that limit whose figure is nearest the median of all."""
    values = {row.id: (row.figures or {})[figure] for _, row in own}
    middle = statistics.median(values.values())
    having = [(number, row) for number, row in own if found[row.id].limit is limit]
    return min(having, key=lambda each: abs(values[each[1].id] - middle))


def _confidence(diagnosis: Diagnosis, *, shared: bool) -> Confidence | None:
    if not diagnosis.findings:
        return None
    return diagnosis.findings[0].confidence if shared else Confidence.LOW


def _evidence_of(diagnosis: Diagnosis) -> Iterable[Evidence]:
    return diagnosis.findings[0].evidence if diagnosis.findings else diagnosis.key_figures


def _timeline(row: TrialRow, samples: ReadSamples | None) -> tuple[Timeline | None, str]:
    """Return the timeline of a trial, or the reason for its absence."""
    if samples is None:
        return None, ""
    try:
        line = build_timeline(
            samples(row.telemetry, list_timeline_columns(row.devices)), row.devices
        )
    except LedgerError as error:
        return None, f"{error.where}: {error.found}"
    return line, "" if line else TOO_SHORT


def _too_many(file: SamplesFile, columns: tuple[str, ...]) -> Samples:
    raise LedgerError(
        f"at most {MOST_TIMELINES} timelines in a report",
        found="more configurations and workloads",
        where=file.name,
        remedy="see the samples of the trial themselves, in that file",
    )


def build_disturbances(
    study: Study, rows: Sequence[TrialRow], found: Diagnoses
) -> tuple[DisturbanceReport, ...]:
    """Trials that count and that something outside the study has limited."""
    return tuple(
        DisturbanceReport(
            workload=workload,
            configuration=configuration,
            disturbance=disturbance,
            trials=len(said),
            sentence=said[0],
        )
        for (workload, configuration), own in _counted(study, rows, found).items()
        for disturbance, said in _disturbances([row for _, row in own], found).items()
    )


def _disturbances(rows: Iterable[TrialRow], found: Diagnoses) -> dict[DisturbanceSource, list[str]]:
    """Return the sentences on disturbances, one per trial."""
    said: dict[DisturbanceSource, list[str]] = {}
    for row in rows:
        for disturbance, sentence in _find_trial_disturbances(found[row.id]):
            said.setdefault(disturbance, []).append(sentence)
    return said


def _find_trial_disturbances(diagnosis: Diagnosis) -> Iterator[tuple[DisturbanceSource, str]]:
    for finding in diagnosis.findings[:1]:
        if finding.limit in _FROM_OUTSIDE and finding.confidence is not Confidence.LOW:
            yield _FROM_OUTSIDE[finding.limit], finding.sentence


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
    """Return the bottleneck of each configuration, if known."""
    limited = [own for own in report.limits if own.workload == workload.label]
    if limited:
        yield Section(
            name="limits",
            title="Bottlenecks",
            notes=tuple(_known(limited, report.factor)),
            leading_tables=(_limits(limited, report),),
            draw=lambda: build_timeline_charts(workload, report),
        )


def _known(limited: Sequence[BottleneckReport], factor: str) -> Iterator[str]:
    """Rules of the diagnosis, and reasons for missing timelines."""
    yield _LIMITED
    if any(own.timeline for own in limited):
        yield _TIMELINES
    short = [own for own in limited if own.no_timeline == TOO_SHORT]
    missing = [own for own in limited if own.no_timeline and own not in short]
    for without in filter(None, (short, missing)):
        yield f"No timeline of {_name_missing(without, factor)}: {without[0].no_timeline}."


def _name_missing(missing: Sequence[BottleneckReport], factor: str) -> str:
    if len(missing) > 1:
        return format_count(len(missing), "configuration")
    return name_configuration(missing[0].configuration, factor)


def _limits(limited: Sequence[BottleneckReport], report: Report) -> TextTable:
    heads = (report.noun, "limited by", "confidence", "evidence")
    rows = [
        (
            own.configuration,
            _limited_by(own),
            _section_confidence(own),
            _evidence(own),
        )
        for own in limited
    ]
    return TextTable("", heads, rows, names=1, words=len(heads) - 1)


def _limited_by(own: BottleneckReport) -> str:
    """``the device sda, in 9 of 10 trials; unclear in 1``."""
    (first, most), *others = own.limits.items()
    more = "".join(f"; {_named(limit)} in {trials}" for limit, trials in others)
    return f"{_named(first, own.of)}, in {most} of {format_count(own.trials, 'trial')}{more}"


def _section_confidence(own: BottleneckReport) -> str:
    """Return the confidence, with the reason if it differs from the typical trial's."""
    if own.confidence is None:
        return ""
    if own.confidence is own.typical_confidence:
        return own.confidence
    shared = f"{own.limits[own.limit]} of {format_count(own.trials, 'trial')}"
    alone = f"{own.typical_confidence} in trial {own.typical}"
    return f"{own.confidence}, as {shared} share it ({alone})"


def _evidence(own: BottleneckReport) -> str:
    """Return the evidence with its consequence for the device."""
    figures = ", ".join(each.says for each in own.evidence)
    return f"{figures}. {own.no_help}." if own.no_help else figures


def _named(limit: Bottleneck, of: str = "") -> str:
    return str(limit) if limit is Bottleneck.UNCLEAR else limit.subject(of)


_HIGH = 130
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_COURSE = "course"


def build_timeline_charts(workload: WorkloadReport, report: Report) -> tuple[Chart, ...]:
    """One for each configuration with a timeline, all with the same lines and on the same axes."""
    limited = [own for own in report.limits if own.workload == workload.label and own.timeline]
    lines = list(dict.fromkeys(_name(each) for own in limited for each in _series(own)))
    seconds = [own.timeline.seconds[-1] for own in limited if own.timeline]
    highest = max((_highest(each) for own in limited for each in _series(own)), default=0.0)
    # They differ in title and data alone, and Altair takes long to make one.
    common = _chart(lines, max(seconds), highest) if lines else {}
    return tuple(
        Chart(
            {**common, "title": own.configuration.split(", "), "datasets": {_COURSE: rows}},
            f"{own.configuration}, trial {own.typical}: {_describe_timeline(own)}",
            "",
            name="timeline",
        )
        for own in limited
        if own.timeline and (rows := list(_rows(own.timeline)))
    )


def _series(own: BottleneckReport) -> tuple[TimelineSeries, ...]:
    return own.timeline.series if own.timeline else ()


def _highest(series: TimelineSeries) -> float:
    return max(value for value in series.values if value is not None)


def _chart(lines: list[str], seconds: float, percent: float) -> Spec:
    x = alt.X("seconds:Q", title="seconds").scale(domain=[0, seconds], nice=False)
    y = alt.Y("percent:Q", title="%", axis=alt.Axis(tickCount=3)).scale(
        domain=[0, max(100.0, percent)]
    )
    colours = cycle_items(COLOURS, len(lines))
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(lines))]
    base = alt.Chart(alt.NamedData(_COURSE)).mark_line(
        interpolate="step-before", strokeWidth=1.6, opacity=0.9
    )
    layer = base.encode(
        x=x.axis(alt.Axis(tickCount=5, grid=False)),
        y=y,
        color=alt.Color("part:N", legend=make_legend(lines)).scale(domain=lines, range=colours),
        strokeDash=alt.StrokeDash("part:N", legend=make_legend(lines)).scale(
            domain=lines, range=dashes
        ),
    )
    return make_chart((layer,), height=_HIGH)


def _rows(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """A step from the end of each stretch to the one before, the first of them to the start."""
    for series in timeline.series:
        name = _name(series)
        yield {"part": name, "seconds": 0.0, "percent": series.values[0]}
        for seconds, value in zip(timeline.seconds, series.values, strict=True):
            yield {"part": name, "seconds": seconds, "percent": value}


def _name(series: TimelineSeries) -> str:
    return " ".join(filter(None, (series.of, series.name)))


def _describe_timeline(own: BottleneckReport) -> str:
    """The course in words: how far each line reaches."""
    return "; ".join(f"{_name(each)} {_span(each)}" for each in _series(own))


def _span(series: TimelineSeries) -> str:
    known = [value for value in series.values if value is not None]
    return f"{min(known):.0f} to {max(known):.0f} %"
