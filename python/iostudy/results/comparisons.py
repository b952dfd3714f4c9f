"""Where each comparison of a study stands: ledger rows in, verdicts out (pure)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.ranking import Ranking, is_rankable, rank
from iostudy.analysis.verdict import Comparison, Rule, compare
from iostudy.ledger.rows import TrialRow
from iostudy.results.screening import ScreeningResult, main_effects
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads.definition import Figure

Values = dict[int, float]

FIRST_LEVELS = "first levels"
"""What the levels of a screening are compared with."""


@dataclass(frozen=True)
class ComparisonResult:
    """One configuration against the baseline on one workload, over the blocks both have run.

    In a screening it is one level of a factor, called ``atime=noatime``, against the first levels.
    ``mean`` and ``baseline_mean`` are geometric means in the figure's unit over the same blocks,
    so that their ratio is the comparison's estimate; NaN before the first common block. A ``bound``
    shows what is possible, and is none to choose.
    """

    workload: str
    configuration: str
    baseline: str
    figure: Figure
    mean: float
    baseline_mean: float
    comparison: Comparison
    bound: bool = False


def exclude_bounds(found: Iterable[ComparisonResult]) -> tuple[ComparisonResult, ...]:
    """Those that are no bounds."""
    return tuple(standing for standing in found if not standing.bound)


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


def compare_configurations(study: Study, rows: Iterable[TrialRow]) -> tuple[ComparisonResult, ...]:
    """Every comparison of the study as the finished blocks leave it, in the study's order.

    A search compares nothing: what won it was chosen for its luck, too.
    """
    if study.search is not None:
        return ()
    if study.design is not None:
        return tuple(map(_of_effect, screen_factors(study, rows)))
    values = verdict_values(study, rows)
    return tuple(
        standing
        for workload in study.workloads
        for standing in compare_on_workload(study, workload.label, values)
    )


def compare_on_workload(
    study: Study, workload: str, values: Mapping[tuple[str, str], Values]
) -> tuple[ComparisonResult, ...]:
    """The comparisons on one workload, from `verdict_values`; not of a screening."""
    return tuple(
        _standing(study, workload, configuration.label, values)
        for configuration in study.configurations()[1:]
    )


def screen_factors(study: Study, rows: Iterable[TrialRow]) -> tuple[ScreeningResult, ...]:
    """Every effect of a screening, workload by workload."""
    return main_effects(study, tuple(log_figures(study, rows)), rule_of(study))


def _of_effect(found: ScreeningResult) -> ComparisonResult:
    return ComparisonResult(
        workload=found.workload.label,
        configuration=found.label,
        baseline=FIRST_LEVELS,
        figure=found.workload.figure,
        mean=found.mean,
        baseline_mean=found.reference,
        comparison=found.effect.comparison,
    )


def rank_configurations(study: Study, rows: Iterable[TrialRow]) -> Ranking | None:
    """All choices, in the study's order, over all workloads with their weights.

    None where verdicts tell all, too few blocks are there for a ranking, or where configurations
    are not compared: in a screening and in a search.
    """
    if study.design is not None or study.search is not None:
        return None
    columns = [own.label not in study.bounds for own in study.configurations()]
    figures = [figures[:, columns] for figures in log_figures(study, rows)]
    rule = rule_of(study)
    if not is_rankable(figures, rule):
        return None
    return rank(figures, study.weights, rule)


def log_figures(study: Study, rows: Iterable[TrialRow]) -> Iterator[NDArray[np.float64]]:
    """For each workload s ln y by block and configuration, NaN where there is no trial."""
    values = verdict_values(study, rows)
    for workload in study.workloads:
        yield log_figures_of(study, workload, values, common_blocks(values, {workload.label}))


def common_blocks(
    values: Mapping[tuple[str, str], Values], workloads: Collection[str]
) -> tuple[int, ...]:
    """The blocks that any of the workloads has under any configuration."""
    found = (own for (workload, _), own in values.items() if workload in workloads)
    return tuple(sorted({block for own in found for block in own}))


def log_figures_of(
    study: Study,
    workload: WorkloadRequest,
    values: Mapping[tuple[str, str], Values],
    blocks: Sequence[int],
) -> NDArray[np.float64]:
    """s ln y of a workload by block and configuration, NaN where there is no trial."""
    labels = [configuration.label for configuration in study.configurations()]
    columns = [values.get((workload.label, label), {}) for label in labels]
    y = [[column.get(block, np.nan) for column in columns] for block in blocks]
    sign = 1 if workload.figure.higher_is_better else -1
    return sign * np.log(np.array(y, dtype=np.float64).reshape(len(blocks), len(labels)))


def _standing(
    study: Study, workload: str, configuration: str, values: Mapping[tuple[str, str], Values]
) -> ComparisonResult:
    figure = next(w.figure for w in study.workloads if w.label == workload)
    base = values.get((workload, study.baseline.label), {})
    own = values.get((workload, configuration), {})
    common = sorted(base.keys() & own.keys())
    baseline_values = [base[block] for block in common]
    own_values = [own[block] for block in common]
    return ComparisonResult(
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
        bound=configuration in study.bounds,
    )


def _geometric_mean(values: list[float]) -> float:
    if not values:
        return math.nan
    return math.exp(math.fsum(map(math.log, values)) / len(values))
