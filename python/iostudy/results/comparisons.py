"""Comparisons and ranking of a study, computed from ledger rows (pure)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.boundaries import AnalysisMethod
from iostudy.analysis.ranking import Ranking, is_rankable, rank
from iostudy.analysis.switchback.window_plan import BOUND_SHARE
from iostudy.analysis.verdict import Comparison, Rule, compare
from iostudy.ledger.rows import MeasuredRow
from iostudy.results.screening import ScreeningResult, screen_main_effects
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.switchback import uses_switchback
from iostudy.workloads.definition import Figure

BlockFigures = dict[int, float]

FIRST_LEVELS = "first levels"
"""The reference of all levels of a screening."""


@dataclass(frozen=True)
class ComparisonResult:
    """A configuration compared with the baseline on one workload, over their common blocks.

    In a screening it is one level of a factor, such as ``atime=noatime``, compared with the first
    levels. ``mean`` and ``baseline_mean`` are geometric means in the figure's unit over the same
    blocks, so that their ratio is the estimate; NaN before the first common block. A ``bound``
    shows a limit of performance and is not a choice.
    """

    workload: str
    configuration: str
    baseline: str
    figure: Figure
    mean: float
    baseline_mean: float
    comparison: Comparison
    bound: bool = False


def exclude_bounds(results: Iterable[ComparisonResult]) -> tuple[ComparisonResult, ...]:
    """Return the results of choices, without bounds."""
    return tuple(result for result in results if not result.bound)


def decision_rule(study: Study) -> Rule:
    """Return the decision rule with the risk shared among all comparisons of the study.

    A screening has one level for all analyses, because Holm's adjusted p values need one. With
    windows, a part of the risk is that of the bounds of their bias.
    """
    decide = study.decide
    return Rule(
        margin=decide.margin,
        risk=decide.risk * (1 - BOUND_SHARE) if uses_switchback(study) else decide.risk,
        min_blocks=decide.min_blocks,
        max_blocks=decide.max_blocks,
        comparisons=max(1, study.comparisons),
        method=AnalysisMethod.CONSTANT_LEVEL if study.design is not None else study.method,
        bias=study.bias,
    )


def collect_figures(
    study: Study, rows: Iterable[MeasuredRow]
) -> dict[tuple[str, str], BlockFigures]:
    """Collect verdict figures of counted trials by (workload, configuration) and block."""
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    values: dict[tuple[str, str], BlockFigures] = {}
    for row in rows:
        if row.counts and row.figures is not None:
            own = values.setdefault((row.workload, row.configuration), {})
            own[row.block] = row.figures[figures[row.workload]]
    return values


def compare_configurations(
    study: Study, rows: Iterable[MeasuredRow]
) -> tuple[ComparisonResult, ...]:
    """Compare all configurations over the finished blocks, in the study's order.

    A search has no comparisons, because its winner was selected by the same data.
    """
    if study.search is not None:
        return ()
    if study.design is not None:
        return tuple(map(_from_effect, screen_factors(study, rows)))
    values = collect_figures(study, rows)
    return tuple(
        result
        for workload in study.workloads
        for result in compare_on_workload(study, workload.label, values)
    )


def compare_on_workload(
    study: Study, workload: str, values: Mapping[tuple[str, str], BlockFigures]
) -> tuple[ComparisonResult, ...]:
    """Compare configurations on one workload by `collect_figures`; not for a screening."""
    return tuple(
        _compare_with_baseline(study, workload, configuration.label, values)
        for configuration in study.configurations()[1:]
    )


def screen_factors(study: Study, rows: Iterable[MeasuredRow]) -> tuple[ScreeningResult, ...]:
    """Return every effect of a screening, workload by workload."""
    return screen_main_effects(study, tuple(log_figures(study, rows)), decision_rule(study))


def _from_effect(result: ScreeningResult) -> ComparisonResult:
    return ComparisonResult(
        workload=result.workload.label,
        configuration=result.label,
        baseline=FIRST_LEVELS,
        figure=result.workload.figure,
        mean=result.mean,
        baseline_mean=result.reference,
        comparison=result.effect.comparison,
    )


def rank_configurations(study: Study, rows: Iterable[MeasuredRow]) -> Ranking | None:
    """Rank all choices, in the study's order, over all workloads with their weights.

    None where the verdicts already imply the ranking, where there are too few blocks, and for
    screenings and searches.
    """
    if study.design is not None or study.search is not None:
        return None
    columns = [choice.label not in study.bounds for choice in study.configurations()]
    figures = [figures[:, columns] for figures in log_figures(study, rows)]
    rule = decision_rule(study)
    if not is_rankable(figures, rule):
        return None
    return rank(figures, study.weights, rule)


def log_figures(study: Study, rows: Iterable[MeasuredRow]) -> Iterator[NDArray[np.float64]]:
    """Yield s ln y of each workload by block and configuration, NaN without a trial."""
    values = collect_figures(study, rows)
    for workload in study.workloads:
        yield workload_log_figures(study, workload, values, common_blocks(values, {workload.label}))


def common_blocks(
    values: Mapping[tuple[str, str], BlockFigures], workloads: Collection[str]
) -> tuple[int, ...]:
    """Return the blocks of any of the workloads under any configuration."""
    figures = (own for (workload, _), own in values.items() if workload in workloads)
    return tuple(sorted({block for own in figures for block in own}))


def workload_log_figures(
    study: Study,
    workload: WorkloadRequest,
    values: Mapping[tuple[str, str], BlockFigures],
    blocks: Sequence[int],
) -> NDArray[np.float64]:
    """Return s ln y of a workload by block and configuration, NaN without a trial."""
    labels = [configuration.label for configuration in study.configurations()]
    columns = [values.get((workload.label, label), {}) for label in labels]
    y = [[column.get(block, np.nan) for column in columns] for block in blocks]
    sign = 1 if workload.figure.higher_is_better else -1
    return sign * np.log(np.array(y, dtype=np.float64).reshape(len(blocks), len(labels)))


def _compare_with_baseline(
    study: Study, workload: str, configuration: str, values: Mapping[tuple[str, str], BlockFigures]
) -> ComparisonResult:
    figure = next(w.figure for w in study.workloads if w.label == workload)
    base = values.get((workload, study.baseline.label), {})
    own = values.get((workload, configuration), {})
    rule = decision_rule(study)
    common = sorted(base.keys() & own.keys())
    common = common[: rule.boundaries.last_look(len(common))]
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
            rule=rule,
        ),
        bound=configuration in study.bounds,
    )


def _geometric_mean(values: list[float]) -> float:
    if not values:
        return math.nan
    return math.exp(math.fsum(map(math.log, values)) / len(values))
