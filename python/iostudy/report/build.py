"""Study, ledger rows -> Report: everything that is told, worked out once (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import JsonValue

from iostudy.analysis.outliers import OutlierRule, flag_outliers
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.series import Shared
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.given_up import GivenUp
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report import (
    answer,
    bottleneck_remedies,
    configurations,
    covariates,
    curves,
    curves_wording,
    explain_equivalence,
    flags,
    headline,
    limits,
    measured,
    method,
    next_steps,
    noise,
    ranking,
    reference,
    requests,
    screening,
    telemetry,
    wording,
)
from iostudy.report.finite import finite, finite_values, readings, span
from iostudy.report.values.covariates import CovariateReport, GivenUpWorkload
from iostudy.report.values.curves import CurvesTold
from iostudy.report.values.limits import LimitedTold
from iostudy.report.values.ranking import RankingTold
from iostudy.report.values.report import Report, State
from iostudy.report.values.results import Result, WorkloadTold
from iostudy.report.values.trials import TrialTold
from iostudy.results.comparisons import (
    FIRST_LEVELS,
    ComparisonResult,
    compare_configurations,
    verdict_values,
)
from iostudy.results.recommendation import recommend
from iostudy.study.model import Study, WorkloadRequest
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.written import as_written

_NOTHING = TelemetrySummary(0.0, {}, {})
"""What was seen of a trial that did not come to its end."""


def build(
    study: Study,
    study_row: StudyRow,
    rows: Iterable[TrialRow],
    folder: str = "DIR",
    samples: ReadSamples | None = None,
    given_up: Sequence[GivenUp] = (),
) -> Report:
    """All that is told of a study, from what was fixed before it and what the ledger holds.

    ``study`` is the one that was carried out: with the host's levels, and without root where
    ``study_row`` says so. ``folder`` is the output folder, as commands will name it;
    ``samples`` reads what was sampled during a trial, for timelines; ``given_up`` are the
    workloads of which no attempt at a block counted.
    """
    in_order = sorted(rows, key=lambda row: row.id)
    compared = compare_configurations(study, in_order)
    diagnoses = limits.diagnoses(study, study_row.circumstances, in_order)
    limited = limits.told(study, in_order, diagnoses, samples)
    disturbed = limits.disturbed(study, in_order, diagnoses)
    meters, device = telemetry.means(study, in_order), telemetry.device_under_test(in_order)
    workloads, covariate_reports = _with_covariates(study, compared, in_order, limited)
    trials = _trials(study, in_order, diagnoses)
    ranked, screened = ranking.told(study, in_order), screening.told(study, in_order)
    scaled = curves.told(study, in_order)
    return Report(
        name=study.name,
        question=study.question,
        state=_state(study, workloads),
        headline=screened.answer if screened else _headline(study, workloads, compared, limited),
        todo=(
            *next_steps.steps(study, compared, folder),
            *bottleneck_remedies.steps(study, workloads, limited, disturbed),
        ),
        answer=tuple(_answer(study, workloads, scaled, ranked, given_up)),
        noun=_noun(study),
        baseline=_baseline_label(study),
        configurations=configurations.told(study, in_order),
        ranking=ranked,
        screening=screened,
        curves=scaled,
        workloads=workloads,
        trials=trials,
        telemetry=meters,
        limits=limited,
        disturbed=disturbed,
        covariates=covariate_reports,
        given_up=tuple(GivenUpWorkload(**asdict(own)) for own in given_up),
        block_requests=requests.told(study, in_order),
        device=device,
        notes=(*wording.of_bounds(study.bounds), *study.notes, *_trial_notes(in_order)),
        reference=reference.told(study, in_order),
        method=method.told(study, study_row.seed, trials),
        reproduce=method.reproduce(study, study_row),
        study_text=study_row.text,
        circumstances=_plain_mapping(study_row.circumstances),
        root=study_row.root,
        started_at=study_row.started_at,
        iostudy_version=study_row.iostudy_version,
    )


def _with_covariates(
    study: Study,
    compared: Sequence[ComparisonResult],
    rows: Sequence[TrialRow],
    limited: Sequence[LimitedTold],
) -> tuple[tuple[WorkloadTold, ...], tuple[CovariateReport, ...]]:
    """Every workload with its flags, and its covariates, whose tests share the level of these."""
    values = covariates.covariate_values(study, rows)
    shared = flags.shared_level(study, values)
    found = _workloads(study, compared, rows, shared)
    reports = covariates.build_covariates(study, values, found, shared)
    explained = (_explained(study, told, limited) for told in found)
    return tuple(flags.with_imbalance(told, reports) for told in explained), reports


def _workloads(
    study: Study, found: Sequence[ComparisonResult], rows: Sequence[TrialRow], shared: Shared
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
        flags.flagged(
            workload.model_copy(update=measured.told(study, request, rows)), study, rows, shared
        )
        for request, workload in zip(study.workloads, told, strict=True)
    )


def _workload(
    study: Study,
    request: WorkloadRequest,
    compared: Sequence[ComparisonResult],
    alone: Sequence[float],
) -> WorkloadTold:
    definition = catalog.get(request.name)
    figure = measured.figure_told(request.figure)
    baseline = _baseline(_baseline_label(study), compared, alone)
    if study.design is not None:
        compared = sorted(compared, key=lambda each: -abs(finite(each.comparison.estimate) or 0.0))
    results = (baseline, *(_result(standing) for standing in compared))
    return WorkloadTold(
        label=request.label,
        name=request.name,
        models=definition.models,
        leaves_out=definition.not_modelled,
        options=as_written(request.options),
        figure=figure,
        results=results,
        noise=noise.of_workload(study, request.label, compared),
        answer=answer.sentences({request.label: answer.predicate(results, figure, _topic(study))})[
            0
        ],
    )


def _explained(
    study: Study,
    workload: WorkloadTold,
    limited: Sequence[LimitedTold],
) -> WorkloadTold:
    """With the reason why nothing differs, where there is one to be told."""
    own = {told.configuration: told for told in limited if told.workload == workload.label}
    of_device = explain_equivalence.varies_the_device(study)
    why = explain_equivalence.told(workload.results, own, of_device=of_device)
    return workload.model_copy(update={"because": why})


def _headline(
    study: Study,
    workloads: Sequence[WorkloadTold],
    compared: Sequence[ComparisonResult],
    limited: Sequence[LimitedTold],
) -> str:
    why = explain_equivalence.throughout(workloads, limited)
    return headline.sentence(workloads, _topic(study), recommend(study, compared), why)


def _noun(study: Study) -> str:
    return answer.noun_of(study.factors) if study.design is None else "level"


def _baseline_label(study: Study) -> str:
    """What all others are compared with: in a screening the first level of each factor."""
    return study.baseline.label if study.design is None else FIRST_LEVELS


def _baseline(label: str, compared: Sequence[ComparisonResult], alone: Sequence[float]) -> Result:
    """The baseline runs in every block, so the longest comparison holds all of its values."""
    longest = max(compared, key=lambda standing: standing.comparison.blocks, default=None)
    if longest is None:
        mean = math.exp(math.fsum(map(math.log, alone)) / len(alone)) if alone else None
        return Result(configuration=label, baseline=True, blocks=len(alone), value=mean)
    blocks, value = longest.comparison.blocks, finite(longest.baseline_mean)
    return Result(configuration=label, baseline=True, blocks=blocks, value=value)


def _topic(study: Study) -> answer.Topic:
    return answer.Topic(
        noun=_noun(study),
        margin=study.decide.margin,
        max_blocks=study.decide.max_blocks,
    )


def _answer(
    study: Study,
    workloads: Sequence[WorkloadTold],
    scaled: Sequence[CurvesTold],
    ranked: RankingTold | None,
    given_up: Sequence[GivenUp],
) -> Iterator[str]:
    yield from answer.of_workloads(workloads, _topic(study))
    yield from answer.sentences({told.label: told.because for told in workloads if told.because})
    for own in scaled:
        yield from curves_wording.shown_crossings(own)
    if ranked:
        yield ranked.answer
    yield from map(wording.given_up, given_up)
    if _state(study, workloads) is not State.COMPLETE:
        yield "The study stopped before every comparison was settled; --resume goes on with it."


def _result(standing: ComparisonResult) -> Result:
    comparison = standing.comparison
    higher = comparison.higher_is_better
    sign = 1 if higher else -1
    robust = comparison.robust_interval if higher else comparison.robust_interval.mirrored()
    return Result(
        configuration=standing.configuration,
        baseline=False,
        bound=standing.bound,
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


def _trials(
    study: Study, rows: Sequence[TrialRow], found: limits.Diagnoses
) -> tuple[TrialTold, ...]:
    outlying = _outlying(study, rows)
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    seen = [row.seen or _NOTHING for row in rows]
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
            devices={name: readings(figures) for name, figures in own.devices.items()},
            machine=readings(own.machine),
            phases=readings(row.phases),
            limit=found[row.id].limit if row.id in found else None,
            notes=row.notes,
            telemetry=row.telemetry.name,
        )
        for number, (row, own) in enumerate(zip(rows, seen, strict=True), start=1)
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
