"""Bottlenecks by workload and configuration, from the diagnoses of trials (pure)."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.confidence import Confidence
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Evidence
from iostudy.errors import LedgerError
from iostudy.ledger.rows import SamplesFile, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.ledger.studies import NODES
from iostudy.report.topics.bottlenecks.diagnosis import build_evidence
from iostudy.report.topics.bottlenecks.timeline import (
    TOO_SHORT,
    build_timeline,
    list_timeline_columns,
)
from iostudy.report.topics.bottlenecks.trial_context import TrialContexts
from iostudy.report.topics.bottlenecks.values import (
    BottleneckReport,
    DisturbanceReport,
    DisturbanceSource,
    Timeline,
)
from iostudy.study.model import Study
from iostudy.telemetry.samples import Samples

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
Diagnoses = Mapping[int, Diagnosis]


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
