"""How far a study is, and how long it can still take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iostudy.analysis.noise import pooled_sd, reachable_margin
from iostudy.analysis.verdict import Verdict
from iostudy.conduct.standing import Standing, rule_of
from iostudy.ledger.rows import TrialRow
from iostudy.study.model import Study
from iostudy.study.plan import Block, Plan
from iostudy.units import format_percent


@dataclass(frozen=True)
class Progress:
    """What a listener hears after every block.

    ``seconds_left`` is an upper bound: the time that the comparisons still open would take if
    each of them needed every block that is allowed. Most are decided sooner. ``outlook`` says, once
    a workload, what its noise lets the study decide; empty otherwise.
    """

    block: Block
    blocks: int
    seconds_left: float
    standings: tuple[Standing, ...]
    outlook: str


def open_configurations(study: Study, workload: str, current: Sequence[Standing]) -> frozenset[str]:
    """Labels that a further block of the workload must run, the baseline among them.

    Empty when every comparison of the workload is decided. A study of a single configuration has
    nothing to decide and runs all its blocks.
    """
    undecided = {
        standing.configuration
        for standing in current
        if standing.workload == workload and standing.comparison.verdict is Verdict.INCONCLUSIVE
    }
    alone = len(study.configurations()) == 1
    return frozenset({*undecided, study.baseline.label}) if undecided or alone else frozenset()


def is_whole(block: Block, rows: Iterable[TrialRow]) -> bool:
    """Whether an attempt at the block counts."""
    own = (block.workload, block.index)
    return any(row.counts for row in rows if (row.workload, row.block) == own)


def open_order(study: Study, block: Block, current: Sequence[Standing]) -> tuple[str, ...]:
    """Labels that the block has to run as the comparisons stand, in its order."""
    wanted = open_configurations(study, block.workload, current)
    return tuple(label for label in block.order if label in wanted)


def trials_left(study: Study, plan: Plan, after: Block, current: Sequence[Standing]) -> int:
    """Trials that remain behind a block if no further comparison is decided."""
    still_open = {
        workload.label: len(open_configurations(study, workload.label, current))
        for workload in study.workloads
    }
    rest = plan.blocks[plan.blocks.index(after) + 1 :]
    return sum(still_open[block.workload] for block in rest)


def outlook(study: Study, workload: str, current: Sequence[Standing]) -> str:
    """What the noise so far lets the study decide, in words; empty where that is the margin."""
    own = [s.comparison for s in current if s.workload == workload]
    noise = pooled_sd((comparison.sd, comparison.blocks) for comparison in own)
    reachable = reachable_margin(noise, rule_of(study))
    if not reachable > study.decide.margin:
        return ""
    if reachable > 1:
        return f"{workload}: paired runs differ so much that hardly anything can be decided"
    return (
        f"{workload}: paired runs differ by {format_percent(noise)} (standard deviation), so "
        f"differences under {format_percent(reachable)} will probably stay inconclusive in "
        f"{study.decide.max_blocks} blocks; longer runs or more blocks tell finer ones"
    )
