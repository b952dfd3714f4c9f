"""Where each comparison of a study stands: ledger rows in, verdicts out (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.ranking import Ranking, is_rankable, rank
from iostudy.analysis.verdict import Comparison, Rule, compare
from iostudy.ledger.rows import TrialRow
from iostudy.study.model import Study
from iostudy.workloads.definition import Figure

Values = dict[int, float]


@dataclass(frozen=True)
class Standing:
    """One configuration against the baseline on one workload, over the blocks both have run.

    ``mean`` and ``baseline_mean`` are geometric means in the figure's unit over the same blocks,
    so that their ratio is the comparison's estimate; NaN before the first common block.
    """

    workload: str
    configuration: str
    baseline: str
    figure: Figure
    mean: float
    baseline_mean: float
    comparison: Comparison


def rule_of(study: Study) -> Rule:
    """The decision rule with the risk shared among all comparisons of the study."""
    decide = study.decide
    return Rule(
        margin=decide.margin,
        risk=decide.risk,
        min_blocks=decide.min_blocks,
        max_blocks=decide.max_blocks,
        comparisons=max(1, study.comparisons),
    )


def verdict_values(study: Study, rows: Iterable[TrialRow]) -> dict[tuple[str, str], Values]:
    """Verdict figures of the trials that count: (workload, configuration) -> block -> value."""
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    values: dict[tuple[str, str], Values] = {}
    for row in rows:
        if row.counts and row.figures is not None:
            own = values.setdefault((row.workload, row.configuration), {})
            own[row.block] = row.figures[figures[row.workload]]
    return values


def standings(study: Study, rows: Iterable[TrialRow]) -> tuple[Standing, ...]:
    """Every comparison of the study as the finished blocks leave it, in the study's order."""
    values = verdict_values(study, rows)
    return tuple(
        _standing(study, workload.label, configuration.label, values)
        for workload in study.workloads
        for configuration in study.configurations()[1:]
    )


def ranked(study: Study, rows: Iterable[TrialRow]) -> Ranking | None:
    """All configurations, in the study's order, over all workloads with their weights.

    None where verdicts tell all, or too few blocks are there for a ranking.
    """
    figures, rule = list(_figures(study, rows)), rule_of(study)
    if not is_rankable(figures, rule):
        return None
    weights = [study.decide.weight(workload.label) for workload in study.workloads]
    return rank(figures, weights, rule)


def _figures(study: Study, rows: Iterable[TrialRow]) -> Iterator[NDArray[np.float64]]:
    """For each workload s ln y by block and configuration, NaN where there is no trial."""
    values = verdict_values(study, rows)
    labels = [configuration.label for configuration in study.configurations()]
    for workload in study.workloads:
        sign = 1 if workload.figure.higher_is_better else -1
        columns = [values.get((workload.label, label), {}) for label in labels]
        blocks = sorted({block for column in columns for block in column})
        y = [[column.get(block, np.nan) for column in columns] for block in blocks]
        yield sign * np.log(np.array(y, dtype=np.float64).reshape(len(blocks), len(labels)))


def _standing(
    study: Study, workload: str, configuration: str, values: dict[tuple[str, str], Values]
) -> Standing:
    figure = next(w.figure for w in study.workloads if w.label == workload)
    base = values.get((workload, study.baseline.label), {})
    own = values.get((workload, configuration), {})
    common = sorted(base.keys() & own.keys())
    baseline_values = [base[block] for block in common]
    own_values = [own[block] for block in common]
    return Standing(
        workload=workload,
        configuration=configuration,
        baseline=study.baseline.label,
        figure=figure,
        mean=_geometric_mean(own_values),
        baseline_mean=_geometric_mean(baseline_values),
        comparison=compare(
            baseline_values,
            own_values,
            higher_is_better=figure.higher_is_better,
            rule=rule_of(study),
        ),
    )


def _geometric_mean(values: list[float]) -> float:
    if not values:
        return math.nan
    return math.exp(math.fsum(map(math.log, values)) / len(values))
