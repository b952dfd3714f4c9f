"""Comparisons, interim analyses and ranking of a study, computed from ledger rows (pure)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iostudy import plugins
from iostudy.analysis.comparison import Comparison, decide_runs, describe_runs
from iostudy.analysis.decision import Outcomes
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.ranking import BlockedRuns, Ranking, is_rankable, rank
from iostudy.analysis.rule import Rule
from iostudy.analysis.spending import SPENT, AnalysisMethod
from iostudy.analysis.switchback.window_plan import RISK_SHARE
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import MeasuredRow
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads.definition import Figure

BlockFigures = dict[int, float]


@dataclass(frozen=True)
class Run:
    """The verdict figures of a configuration in a block, with its position in the block's order.

    The first figure decides. A figure of a failed run is NaN. Windows have no position, because a
    block has several orders.
    """

    figures: Mapping[str, float]
    position: int | None

    @property
    def figure(self) -> float:
        """The figure that decides."""
        return next(iter(self.figures.values()))


BlockRuns = Mapping[tuple[str, str], Mapping[int, Run]]
"""Runs by (workload, configuration) and block."""

FIRST_LEVELS = "first levels"
"""The reference where levels of factors are compared."""


@dataclass(frozen=True)
class ComparisonResult:
    """A configuration compared with the baseline on one workload by one of its figures.

    It covers their common blocks. It may be one level of a factor, such as ``atime=noatime``,
    compared with the first levels. ``mean`` and ``baseline_mean`` are geometric means in the
    figure's unit over the same blocks, without failed runs; NaN before the first common block. A
    ``bound`` shows a limit of performance and is not a choice. ``meets_better`` and ``meets_guard``
    are the two parts of the study's goal, each at its own level: better, and not worse. In
    ``lost_blocks`` both failed. A ``is_guard`` is by a further figure of the workload, which does
    not decide: the goal wants it not to be worse.
    """

    workload: str
    configuration: str
    baseline: str
    figure: Figure
    mean: float
    baseline_mean: float
    comparison: Comparison
    bound: bool = False
    meets_better: bool = False
    meets_guard: bool = False
    lost_blocks: int = 0
    is_guard: bool = False

    @property
    def title(self) -> str:
        """The workload, and the figure if another one decides."""
        return entitle(self.workload, self.figure.name, is_guard=self.is_guard)


def entitle(workload: str, figure: str, *, is_guard: bool) -> str:
    """Return the workload, and the figure if another one decides: ``bandwidth of fio``."""
    return f"{figure} of {workload}" if is_guard else workload


def exclude_bounds(results: Iterable[ComparisonResult]) -> tuple[ComparisonResult, ...]:
    """Return the results of choices, without bounds."""
    return tuple(result for result in results if not result.bound)


def exclude_guards(results: Iterable[ComparisonResult]) -> tuple[ComparisonResult, ...]:
    """Return the results by the figures that decide."""
    return tuple(result for result in results if not result.is_guard)


def describe_failed_side(results: Iterable[ComparisonResult]) -> str:
    """Return what leaves no workload a figure to compare, as ``every run of b on time failed``."""
    sides = []
    begun = [result for result in exclude_guards(results) if result.comparison.blocks]
    for workload in dict.fromkeys(result.workload for result in begun):
        compared = [result for result in begun if result.workload == workload]
        failed = {result.configuration: None for result in compared if math.isnan(result.mean)}
        if all(math.isnan(result.baseline_mean) for result in compared):
            failed = {compared[0].baseline: None}
        elif len(failed) < len(compared):
            return ""
        sides.append(f"every run of {' and '.join(failed)} on {workload} failed")
    return "; ".join(sides)


def decision_rule(study: Study) -> Rule:
    """Return the decision rule with the risk shared among all comparisons of the study.

    Further figures of a workload do not share it: that a configuration is better in the first one
    and not worse in the others is wrong only if a particular one of these verdicts is.

    Levels of factors have one level of risk in all analyses, because Holm's adjusted p values need
    one, and cannot be continued. With windows, a part of the risk is that of the test of their
    settling.
    """
    decide, mode = study.decide, find_mode(study)
    has_one_level = mode.compares_levels
    return Rule(
        margin=decide.margin,
        risk=decide.risk * (1 - RISK_SHARE) if mode.measures_windows else decide.risk,
        min_blocks=decide.min_blocks,
        max_blocks=decide.max_blocks,
        comparisons=max(1, study.comparisons),
        method=AnalysisMethod.CONSTANT_LEVEL if has_one_level else study.method,
        bias=study.bias,
        rare=decide.rare,
        continuation=SPENT if has_one_level else study.continuation,
    )


def guard_rule(study: Study) -> Rule:
    """Return the rule of a guard of the goal: the risk is shared among configurations only.

    A goal is wrong only if one particular part is (intersection-union test: Berger 1982), so the
    parts do not share the risk.
    """
    rule = decision_rule(study)
    return replace(rule, comparisons=max(1, rule.comparisons // len(study.workloads)))


def better_rule(study: Study) -> Rule:
    """Return the rule of the workloads on which the goal wants better; any of them suffices."""
    rule = guard_rule(study)
    return replace(rule, comparisons=rule.comparisons * len(study.goal.better))


def collect_runs(
    study: Study, rows: Iterable[MeasuredRow]
) -> dict[tuple[str, str], dict[int, Run]]:
    """Collect the runs of counted trials, or of windows, by (workload, configuration) and block."""
    names = {w.label: [figure.name for figure in w.figures] for w in study.workloads}
    runs: dict[tuple[str, str], dict[int, Run]] = {}
    for row in rows:
        if row.counts:
            measured = row.figures or {}
            # NaN for one without a logarithm.
            values = {name: measured.get(name) or math.nan for name in names[row.workload]}
            figures = {k: y if 0 < y < math.inf else math.nan for k, y in values.items()}
            run = Run(figures, row.position)
            runs.setdefault((row.workload, row.configuration), {})[row.block] = run
    return runs


def collect_figures(
    study: Study, rows: Iterable[MeasuredRow]
) -> dict[tuple[str, str], BlockFigures]:
    """Collect the deciding figures of counted trials that did not fail."""
    deciding = {workload.label: workload.figure.name for workload in study.workloads}
    return {
        key: select_figures(runs, deciding[key[0]])
        for key, runs in collect_runs(study, rows).items()
    }


def select_figures(runs: Mapping[int, Run], figure: str) -> BlockFigures:
    """Return a figure of the runs that have it."""
    values = {block: run.figures[figure] for block, run in runs.items()}
    return {block: value for block, value in values.items() if not math.isnan(value)}


def compare_configurations(
    study: Study, rows: Iterable[MeasuredRow]
) -> tuple[ComparisonResult, ...]:
    """Return every result of a study over the finished blocks, as its mode compares."""
    compare = plugins.load(find_mode(study).comparisons)
    results: tuple[ComparisonResult, ...] = compare(study, rows)
    return results


def compare_with_baseline(
    study: Study, rows: Iterable[MeasuredRow]
) -> tuple[ComparisonResult, ...]:
    """Compare all configurations with the baseline, in the study's order.

    All comparisons by a figure come before those by the next one.
    """
    return InterimAnalysis(study).compare(tuple(rows))


def rank_configurations(study: Study, rows: Iterable[MeasuredRow]) -> Ranking | None:
    """Rank all choices, in the study's order, over all workloads with their weights.

    None where the verdicts already imply the ranking, where there are too few blocks, and for
    screenings and searches.
    """
    if not find_mode(study).compares_configurations:
        return None
    collected, rule = collect_runs(study, rows), decision_rule(study)
    labels = [choice.label for choice in study.choices()]
    runs = [_blocked_runs(w.label, w.figure, labels, collected) for w in study.workloads]
    if not is_rankable(runs, rule):
        return None
    return rank(runs, study.weights, rule)


def _blocked_runs(
    workload: str, figure: Figure, configurations: Sequence[str], collected: BlockRuns
) -> BlockedRuns:
    """The runs of a workload by block, and by configuration in the given order."""
    columns = [collected.get((workload, label), {}) for label in configurations]
    blocks = sorted({block for runs in columns for block in runs})
    shape = len(blocks), len(columns)
    figures, positions = np.full(shape, np.nan), np.full(shape, np.nan)
    ran = np.zeros(shape, dtype=bool)
    for column, runs in enumerate(columns):
        rows = np.searchsorted(blocks, list(runs))
        ran[rows, column] = True
        figures[rows, column] = [run.figures[figure.name] for run in runs.values()]
        positions[rows, column] = [run.position for run in runs.values()]
    failed = ran & np.isnan(figures)
    figures = (1 if figure.higher_is_better else -1) * np.log(figures)
    figures[failed] = -np.inf
    return BlockedRuns(figures, None if np.isnan(positions[ran]).any() else positions)


def log_figures(study: Study, rows: Iterable[MeasuredRow]) -> Iterator[NDArray[np.float64]]:
    """Yield s ln y of each workload by block and configuration, NaN without a trial."""
    values = collect_figures(study, rows)
    for workload in study.workloads:
        yield workload_log_figures(study, workload, values, common_blocks(values, {workload.label}))


def common_blocks(
    values: Mapping[tuple[str, str], BlockFigures], workloads: Collection[str]
) -> tuple[int, ...]:
    """Return the blocks of any of the workloads under any configuration."""
    used = (by_block for (workload, _), by_block in values.items() if workload in workloads)
    return tuple(sorted({block for by_block in used for block in by_block}))


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


def pair_runs(
    study: Study, workload: WorkloadRequest, figure: Figure, configuration: str, runs: BlockRuns
) -> PairedRuns:
    """Pair the runs of the baseline and of another configuration in their common blocks."""
    base = runs.get((workload.label, study.baseline.label), {})
    compared = runs.get((workload.label, configuration), {})
    pairs = [(base[block], compared[block]) for block in sorted(base.keys() & compared.keys())]
    ordered = [(a.position, b.position) for a, b in pairs]
    return PairedRuns.from_figures(
        [a.figures[figure.name] for a, _ in pairs],
        [b.figures[figure.name] for _, b in pairs],
        higher_is_better=figure.higher_is_better,
        after=None
        if any(None in positions for positions in ordered)
        else [b > a for a, b in ordered if a is not None and b is not None],
    )


@dataclass(frozen=True)
class Look:
    """The comparisons of a workload by one figure, with their outcomes by each rule.

    Each has an entry for every configuration but the baseline, in the study's order.
    """

    runs: BlockedRuns
    outcomes: Mapping[Rule, Outcomes]
    results: tuple[ComparisonResult, ...]


def _look(
    study: Study,
    workload: WorkloadRequest,
    figure: Figure,
    collected: BlockRuns,
    before: Look | None,
) -> Look:
    """Compare all configurations with the baseline; ``before`` is the look at earlier runs."""
    labels = [configuration.label for configuration in study.configurations()]
    runs = _blocked_runs(workload.label, figure, labels, collected)
    if before is not None and not runs.begins_with(before.runs):
        before = None
    rules = decision_rule(study), guard_rule(study), better_rule(study)
    # They are equal in a study of one workload.
    begun = {rule: Outcomes.begin(len(labels) - 1) for rule in set(rules)}
    earlier = begun if before is None else before.outcomes
    outcomes = dict(earlier)
    results = {} if before is None else dict(enumerate(before.results))
    for others, pairs in runs.pairs(0):
        rows = others - 1
        is_new = np.full(len(rows), before is None)
        for rule in begun:
            decided = decide_runs(pairs, rule, earlier[rule].take(rows))
            is_new |= decided.blocks != earlier[rule].blocks[rows]
            outcomes[rule] = outcomes[rule].put(rows, decided)
        ended, guard, better = (outcomes[rule].take(rows[is_new]) for rule in rules)
        used = pairs.take(is_new)
        comparisons = describe_runs(
            used, ended, higher_is_better=figure.higher_is_better, rule=rules[0]
        )
        for index, comparison in enumerate(comparisons):
            row = rows[is_new][index]
            results[row] = ComparisonResult(
                workload=workload.label,
                configuration=labels[1 + row],
                baseline=labels[0],
                figure=figure,
                mean=_geometric_mean(used.other[index, : comparison.blocks], figure),
                baseline_mean=_geometric_mean(used.baseline[index, : comparison.blocks], figure),
                comparison=comparison,
                bound=labels[1 + row] in study.bounds,
                meets_better=better.words[index] == Verdict.BETTER,
                meets_guard=bool(guard.not_worse[index]) or guard.words[index] == Verdict.BETTER,
                is_guard=figure != workload.figure,
            )
    return Look(
        runs,
        outcomes,
        tuple(
            replace(results[row], lost_blocks=int(lost)) for row, lost in enumerate(runs.lost(0))
        ),
    )


def _geometric_mean(performance: NDArray[np.float64], figure: Figure) -> float:
    """Return the mean of figures by s ln y, without failed runs; NaN for none."""
    values = performance[np.isfinite(performance)]
    if not len(values):
        return math.nan
    mean = math.fsum(values) / len(values)
    return math.exp(mean if figure.higher_is_better else -mean)


class InterimAnalysis:
    """The interim analyses of one study whose rows are only appended, as in a ledger.

    Each gives the result of `compare_configurations` for the same rows. It continues the one
    before: a block adds one look at the comparisons of its workload.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._compares_configurations = find_mode(study).compares_configurations
        self._rows: Sequence[MeasuredRow] = ()
        self._runs: dict[tuple[str, str], dict[int, Run]] = {}
        self._looks: dict[tuple[str, str], Look] = {}

    def compare(self, rows: Sequence[MeasuredRow]) -> tuple[ComparisonResult, ...]:
        """Return every comparison, in the study's order."""
        if not self._compares_configurations:
            return compare_configurations(self._study, rows)
        known = len(self._rows)
        # Rows of ended trials do not change: if the last one is the same, the others are, too.
        if known and (len(rows) < known or rows[known - 1] is not self._rows[-1]):
            known, self._runs = 0, {}
        added = collect_runs(self._study, rows[known:])
        for key, runs in added.items():
            self._runs.setdefault(key, {}).update(runs)
        self._rows = tuple(rows)
        changed = {workload for workload, _ in added}
        shown: list[ComparisonResult] = []
        for workload in self._study.workloads:
            for figure in workload.figures:
                key = workload.label, figure.name
                if not known or workload.label in changed:
                    before = self._looks.get(key)
                    self._looks[key] = _look(self._study, workload, figure, self._runs, before)
                shown += self._looks[key].results
        return tuple(shown)
