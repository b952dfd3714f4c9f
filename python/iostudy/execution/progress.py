"""How far a study is, and how long it can still take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.analysis.verdict import Verdict
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.model import Study
from iostudy.study.plan import Block, Plan


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is.

    ``incumbent`` is the candidate that is ahead of the default, empty where none is; it was in
    ``blocks`` of every workload, and ``log_ratio`` is what it gained there. ``spent`` says how much
    of the budget has been used.
    """

    candidates: int
    incumbent: str
    log_ratio: float
    blocks: int
    spent: str


@dataclass(frozen=True)
class Progress:
    """What a listener hears after every block.

    ``seconds_left`` is an upper bound: the time that the comparisons still open would take if
    each of them needed every block that is allowed. Most are decided sooner. ``outlook`` says, once
    a workload, what its noise lets the study decide and how long that takes; empty otherwise.
    ``search``: how far a search is, which has neither a number of blocks nor comparisons.
    """

    block: Block
    seconds_left: float
    blocks: int = 0
    comparisons: tuple[ComparisonResult, ...] = ()
    outlook: str = ""
    search: SearchProgress | None = None


def open_configurations(
    study: Study, workload: str, current: Sequence[ComparisonResult]
) -> frozenset[str]:
    """Labels that a further block of the workload must run, the baseline among them.

    Empty when every comparison of the workload is decided. A study of a single configuration has
    nothing to decide and runs all its blocks; a screening runs its whole design until every effect
    is decided.
    """
    undecided = {
        standing.configuration
        for standing in current
        if standing.workload == workload and standing.comparison.verdict is Verdict.INCONCLUSIVE
    }
    if undecided and study.design is not None:
        return frozenset(each.label for each in study.configurations())
    alone = len(study.configurations()) == 1
    return frozenset({*undecided, study.baseline.label}) if undecided or alone else frozenset()


def open_order(study: Study, block: Block, current: Sequence[ComparisonResult]) -> tuple[str, ...]:
    """Labels that the block has to run as the comparisons stand, in its order."""
    wanted = open_configurations(study, block.workload, current)
    return tuple(label for label in block.order if label in wanted)


def trials_left(study: Study, plan: Plan, after: Block, current: Sequence[ComparisonResult]) -> int:
    """Trials that remain behind a block if no further comparison is decided."""
    still_open = {
        workload.label: len(open_configurations(study, workload.label, current))
        for workload in study.workloads
    }
    here = (after.workload, after.index)
    at = next(n for n, b in enumerate(plan.blocks) if (b.workload, b.index) == here)
    rest = plan.blocks[at + 1 :]
    return sum(still_open[block.workload] for block in rest)
