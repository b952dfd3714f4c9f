"""Two studies beside each other: everything that is told, worked out once (pure)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import JsonValue

from iostudy.analysis import unpaired
from iostudy.analysis.paired import Array
from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Rule, Verdict
from iostudy.report import circumstances, configurations, covariates, flags, measured, wording
from iostudy.report.comparable import Recorded, comparable
from iostudy.report.finite import finite, span
from iostudy.report.values.comparison import (
    ComparedTold,
    ComparisonTold,
    CostTold,
    DifferenceTold,
    MeanOfSide,
    SideTold,
)
from iostudy.results.comparisons import compare_configurations, rule_of, verdict_values
from iostudy.results.recommendation import is_undecided
from iostudy.study.model import WorkloadRequest
from iostudy.units import format_percent

Sides = tuple[Recorded, Recorded]


def build(first: Recorded, second: Recorded, asked: Sequence[str] = ()) -> ComparisonTold:
    """The second study against the first; ``asked`` as of `comparable`, whose errors are raised."""
    sides = (first, second)
    found = comparable(first, second, asked)
    rule = unpaired.stricter(
        rule_of(first.study),
        rule_of(second.study),
        comparisons=len(found.workloads) * len(found.configurations),
    )
    return ComparisonTold(
        first=_side(first),
        second=_side(second),
        margin=rule.margin,
        risk=rule.risk,
        compared=tuple(
            _compared(workload, pair, sides, rule)
            for workload in found.workloads
            for pair in found.configurations
        ),
        costs=tuple(_costs(found.workloads, sides)),
        left_out=found.left_out,
        differences=_differences(first, second),
        study_difference=_study_difference(first, second),
    )


def _side(side: Recorded) -> SideTold:
    return SideTold(
        place=side.place,
        name=side.study.name,
        question=side.study.question,
        finished=_is_finished(side),
        started_at=side.row.started_at,
    )


def _is_finished(side: Recorded) -> bool:
    """A single configuration has nothing to decide and runs all its blocks."""
    found = compare_configurations(side.study, side.rows)
    if found:
        return not any(is_undecided(side.study, each) for each in found)
    values = verdict_values(side.study, side.rows)
    alone = (values.get((w.label, side.study.baseline.label), {}) for w in side.study.workloads)
    return all(len(own) >= side.study.decide.max_blocks for own in alone)


def _compared(
    workload: WorkloadRequest, pair: tuple[str, str], sides: Sides, rule: Rule
) -> ComparedTold:
    """A verdict is withheld where a study's figures are not independent: see docs/method.md."""
    ours, theirs = (
        _figures(side, workload, label) for side, label in zip(sides, pair, strict=True)
    )
    found = unpaired.compare(
        ours, theirs, higher_is_better=workload.figure.higher_is_better, rule=rule
    )
    raised = tuple(flag for flag in Flag if any(flag in _flags(side, workload) for side in sides))
    return ComparedTold(
        workload=workload.label,
        figure=measured.figure_told(workload.figure),
        first=_mean(pair[0], ours),
        second=_mean(pair[1], theirs),
        change=finite(found.change),
        interval=span(found.change_interval),
        verdict=Verdict.INCONCLUSIVE if raised else found.verdict,
        by_margin=found.by_margin and not raised,
        flags=raised,
    )


def _figures(side: Recorded, workload: WorkloadRequest, label: str) -> list[float]:
    return list(verdict_values(side.study, side.rows).get((workload.label, label), {}).values())


def _flags(side: Recorded, workload: WorkloadRequest) -> tuple[Flag, ...]:
    shared = flags.shared_level(side.study, covariates.covariate_values(side.study, side.rows))
    return flags.of_figures(workload.label, workload.figure.name, side.rows, shared)


def _mean(label: str, figures: Sequence[float]) -> MeanOfSide:
    mean = math.exp(math.fsum(map(math.log, figures)) / len(figures)) if figures else None
    return MeanOfSide(configuration=label, value=mean, trials=len(figures))


def _costs(workloads: Sequence[WorkloadRequest], sides: Sides) -> Iterator[CostTold]:
    for workload in workloads:
        pairs = [pair for side in sides for pair in _pairs(workload.label, side)]
        times = unpaired.times_as_wide(pairs)
        if times is not None:
            yield CostTold(
                workload=workload.label, times_as_wide=times, times_as_many_blocks=times**2
            )


def _pairs(workload: str, side: Recorded) -> Iterator[tuple[Array, Array]]:
    """The log figures of the baseline and of each other configuration in their common blocks."""
    values = verdict_values(side.study, side.rows)
    base = values.get((workload, side.study.baseline.label), {})
    for configuration in side.study.configurations()[1:]:
        own = values.get((workload, configuration.label), {})
        common = sorted(base.keys() & own.keys())
        yield np.log([base[block] for block in common]), np.log([own[block] for block in common])


def _differences(first: Recorded, second: Recorded) -> tuple[DifferenceTold, ...]:
    found = circumstances.differences(_circumstances(first), _circumstances(second))
    return tuple(
        DifferenceTold(
            name=" ".join(wording.fact_name(part, None) for part in each.way),
            first=_text(each.first, each.way[-1]),
            second=_text(each.second, each.way[-1]),
        )
        for each in found
    )


def _text(value: JsonValue, name: str) -> str | None:
    return None if value is None else wording.fact_text(value, name)


def _circumstances(side: Recorded) -> dict[str, JsonValue]:
    """Those of the host, and what the study itself fixed."""
    decide = side.study.decide
    return {
        **side.row.circumstances,
        "begun": wording.moment(side.row.started_at),
        "as root": side.row.root,
        "seed": side.row.seed,
        "settings read back": {
            own.label: _read_back(own.read_back)
            for own in configurations.told(side.study, side.rows)
        },
        "decide": {
            "margin": format_percent(decide.margin),
            "risk": format_percent(decide.risk),
            "blocks": f"{decide.min_blocks} to {decide.max_blocks}",
        },
        "validity": dict(side.study.validity.describe()),
    }


def _read_back(found: dict[str, tuple[str, ...]]) -> dict[str, JsonValue]:
    """Without the places, whose names differ for nothing."""
    by_name: dict[str, tuple[str, ...]] = {}
    for label, values in found.items():
        name = label.partition("@")[0]
        by_name[name] = tuple(dict.fromkeys((*by_name.get(name, ()), *values)))
    return {name: " or ".join(values) for name, values in by_name.items()}


def _study_difference(first: Recorded, second: Recorded) -> str:
    before, after = (side.row.text.splitlines() for side in (first, second))
    lines = difflib.unified_diff(before, after, first.place, second.place, lineterm="")
    return "\n".join(lines)
