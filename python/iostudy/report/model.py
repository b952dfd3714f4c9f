"""Study, ledger rows -> Report: everything that is told, worked out once (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from iostudy.analysis.outliers import OutlierRule, flag_outliers
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.verdict import Verdict
from iostudy.conduct.standing import Standing, standings, verdict_values
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.report import answer, configurations, measured, method, ranking, reference, telemetry
from iostudy.report.finite import finite, finite_values, span
from iostudy.report.values import (
    FigureTold,
    Report,
    Result,
    State,
    TrialTold,
    WorkloadTold,
)
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads import catalog
from iostudy.workloads.written import as_written


def build(study: Study, study_row: StudyRow, rows: Iterable[TrialRow]) -> Report:
    """All that is told of a study, from what was fixed before it and what the ledger holds.

    ``study`` is the one that was carried out: with the host's levels, and without root where
    ``study_row`` says so.
    """
    in_order = sorted(rows, key=lambda row: row.id)
    workloads = _workloads(study, standings(study, in_order), in_order)
    trials = _trials(study, in_order)
    state = _state(study, workloads)
    ranked = ranking.told(study, in_order)
    return Report(
        name=study.name,
        question=study.question,
        state=state,
        answer=(*_answer(study, workloads), *([ranked.answer] if ranked else ()), *_ending(state)),
        noun=answer.noun_of(study.factors),
        baseline=study.baseline.label,
        configurations=configurations.told(study, in_order),
        ranking=ranked,
        workloads=workloads,
        trials=trials,
        telemetry=telemetry.means(study, in_order),
        device=telemetry.device_under_test(in_order),
        notes=(*study.notes, *_trial_notes(in_order)),
        reference=reference.told(study, in_order),
        method=method.told(study, study_row.seed, trials),
        reproduce=method.reproduce(study, study_row),
        study_text=study_row.text,
        circumstances=_plain_mapping(study_row.circumstances),
        root=study_row.root,
        started_at=study_row.started_at,
        iostudy_version=study_row.iostudy_version,
    )


def _workloads(
    study: Study, found: Sequence[Standing], rows: Sequence[TrialRow]
) -> tuple[WorkloadTold, ...]:
    """Every workload with its results and all else that was measured."""
    values = verdict_values(study, rows)
    told = (
        _workload(
            study,
            request,
            [standing for standing in found if standing.workload == request.label],
            list(values.get((request.label, study.baseline.label), {}).values()),
        )
        for request in study.workloads
    )
    return tuple(
        workload.model_copy(update=measured.told(study, request, rows))
        for request, workload in zip(study.workloads, told, strict=True)
    )


def _workload(
    study: Study, request: WorkloadRequest, compared: Sequence[Standing], alone: Sequence[float]
) -> WorkloadTold:
    definition = catalog.get(request.name)
    figure = measured.figure_told(request.figure)
    baseline = _baseline(study.baseline.label, compared, alone)
    results = (baseline, *(_result(standing) for standing in compared))
    return WorkloadTold(
        label=request.label,
        name=request.name,
        models=definition.models,
        leaves_out=definition.leaves_out,
        options=as_written(request.options),
        figure=figure,
        results=results,
        answer=answer.sentences({request.label: _predicate(study, results, figure)})[0],
    )


def _baseline(label: str, compared: Sequence[Standing], alone: Sequence[float]) -> Result:
    """The baseline runs in every block, so the longest comparison holds all of its values."""
    longest = max(compared, key=lambda standing: standing.comparison.blocks, default=None)
    if longest is None:
        mean = math.exp(math.fsum(map(math.log, alone)) / len(alone)) if alone else None
        return Result(configuration=label, baseline=True, blocks=len(alone), value=mean)
    blocks, value = longest.comparison.blocks, finite(longest.baseline_mean)
    return Result(configuration=label, baseline=True, blocks=blocks, value=value)


def _predicate(study: Study, results: Sequence[Result], figure: FigureTold) -> str:
    topic = answer.Topic(
        noun=answer.noun_of(study.factors),
        margin=study.decide.margin,
        max_blocks=study.decide.max_blocks,
    )
    return answer.predicate(results, figure, topic)


def _answer(study: Study, workloads: Sequence[WorkloadTold]) -> tuple[str, ...]:
    return answer.sentences({w.label: _predicate(study, w.results, w.figure) for w in workloads})


def _ending(state: State) -> tuple[str, ...]:
    if state is State.COMPLETE:
        return ()
    return ("The study stopped before every comparison was settled; --resume goes on with it.",)


def _result(standing: Standing) -> Result:
    comparison = standing.comparison
    higher = comparison.higher_is_better
    sign = 1 if higher else -1
    robust = comparison.robust_interval if higher else comparison.robust_interval.mirrored()
    return Result(
        configuration=standing.configuration,
        baseline=False,
        blocks=comparison.blocks,
        value=finite(standing.mean),
        change=finite(comparison.change),
        interval=span(comparison.change_interval),
        robust_change=finite(as_fraction(sign * comparison.robust_estimate)),
        robust_interval=span(robust.as_fractions()),
        verdict=comparison.verdict,
        by_margin=comparison.by_margin,
        fragile=comparison.fragile,
        blocks_needed=comparison.blocks_needed,
    )


def _trials(study: Study, rows: Sequence[TrialRow]) -> tuple[TrialTold, ...]:
    outlying = _outlying(study, rows)
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    return tuple(
        TrialTold(
            number=number,
            block=row.block,
            attempt=row.attempt,
            position=row.position,
            workload=row.workload,
            configuration=row.configuration,
            status=row.status,
            reason=row.reason,
            counts=row.counts,
            outlier=row.counts and (row.workload, row.configuration, row.block) in outlying,
            started_at=row.started_at,
            value=finite((row.figures or {}).get(figures[row.workload])),
            figures=finite_values(row.figures),
            settings=dict(row.settings or {}),
            device=row.device,
            devices={name: finite_values(own) for name, own in (row.devices or {}).items()},
            machine=finite_values(row.machine),
            phases=finite_values(row.phases),
            notes=row.notes,
            telemetry=row.telemetry,
        )
        for number, row in enumerate(rows, start=1)
    )


def _outlying(study: Study, rows: Sequence[TrialRow]) -> set[tuple[str, str, int]]:
    """(workload, configuration, block) of the counted trials that stand apart by both rules.

    Either alone points at one in twenty of nine normal values: more than a reader should look at.
    """
    return {
        (workload, configuration, list(values)[outlier.index])
        for (workload, configuration), values in verdict_values(study, rows).items()
        for outlier in flag_outliers(list(values.values()))
        if outlier.rules == frozenset(OutlierRule)
    }


def _state(study: Study, workloads: Sequence[WorkloadTold]) -> State:
    """A single configuration has nothing to decide and runs all its blocks."""
    results = [r for w in workloads for r in (w.results[1:] or w.results)]
    settled = all(_settled(result, study.decide.max_blocks) for result in results)
    return State.COMPLETE if settled else State.STOPPED


def _settled(result: Result, max_blocks: int) -> bool:
    return result.verdict not in (None, Verdict.INCONCLUSIVE) or result.blocks >= max_blocks


def _trial_notes(rows: Sequence[TrialRow]) -> tuple[str, ...]:
    """What trials had to say, each remark once."""
    return tuple(dict.fromkeys(note for row in rows for note in row.notes))


def _plain_mapping(value: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {str(key): _plain(item) for key, item in value.items()}


def _plain(value: Any) -> JsonValue:
    """A JSON value in which no number is infinite or not a number."""
    if isinstance(value, Mapping):
        return _plain_mapping(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else str(value)
