"""Plan of a study from its seed: every configuration once per block, in random order.

Configurations that share a file system of the study, or a directory, form a whole plot of the
block. They run one after another, with new data for this plot of this block (a split-plot design,
see docs/method/design.md). The order of whole plots is drawn first, then the order within each.

The plan has the largest number of blocks that the decision rule allows. The schedule omits decided
configurations, which keeps the order of the others random.
"""

from __future__ import annotations

import math
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.study.combinations import Configuration
from iostudy.study.model import Study

FORMAT_PHASE = "format"
"""The phase of a trial in which the file system of its whole plot is made."""

_MOST_DRAWS = 50
"""Of eight blocks of five configurations and three workloads, every second plan has all orders."""
SEED_BITS = 63
"""What fits a signed 64-bit integer, as the ledger keeps it."""


@dataclass(frozen=True)
class Block:
    """One workload under every configuration once.

    ``index`` counts the replicates of the workload from 1; ``order`` holds configuration labels
    in the order they are run.
    """

    index: int
    workload: str
    order: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The blocks of a study in the order they are run; the same study and seed give the same."""

    seed: int
    blocks: tuple[Block, ...]


def draw_seed() -> int:
    """A fresh seed, for those who give none."""
    return secrets.randbits(SEED_BITS)


def make_plan(study: Study, seed: int) -> Plan:
    """Draw the order of workloads within a round and of configurations within a block.

    The blocks of a continued study begin with the planned ones. Few blocks can lack an order that
    a verdict needs, so they are drawn anew until none is missing, or taken where fewest are.
    """
    draw = random.Random(seed)
    plots = [[c.label for c in plot] for plot in whole_plots(study.configurations())]
    workloads = [workload.label for workload in study.workloads]

    def draw_blocks(first: int, last: int) -> tuple[Block, ...]:
        return tuple(
            Block(index, workload, _order(draw, plots))
            for index in range(first, last + 1)
            for workload in draw.sample(workloads, len(workloads))
        )

    fewest, plan = math.inf, tuple[Block, ...]()
    for _ in range(_MOST_DRAWS):
        blocks = draw_blocks(1, study.decide.max_blocks)
        missing = _count_missing_orders(study, blocks)
        if missing < fewest:
            fewest, plan = missing, blocks
        if not missing:
            break
    return Plan(seed, plan + draw_blocks(study.decide.max_blocks + 1, study.last_block))


def _count_missing_orders(study: Study, blocks: Sequence[Block]) -> int:
    """Count the comparisons that lack an order in these blocks, the planned ones."""
    # Imported here: numpy takes a fifth of a second to load.
    from iostudy.analysis.decision import MIN_ORDERS

    count, baseline = study.decide.max_blocks, study.baseline.label
    first = Counter(
        (block.workload, label)
        for block in blocks
        for label in block.order[: block.order.index(baseline)]
    )
    others = [choice.label for choice in study.configurations() if choice.label != baseline]
    pairs = [(workload.label, label) for workload in study.workloads for label in others]
    return sum(not MIN_ORDERS <= first[pair] <= count - MIN_ORDERS for pair in pairs)


def whole_plots(configurations: Sequence[Configuration]) -> tuple[tuple[Configuration, ...], ...]:
    """The configurations by the file system they share; all in one where a study makes none."""
    plots: dict[str, list[Configuration]] = {}
    for configuration in configurations:
        plots.setdefault(configuration.whole_plot, []).append(configuration)
    return tuple(map(tuple, plots.values()))


def _order(draw: random.Random, plots: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """A single plot draws nothing but its own order."""
    drawn = draw.sample(plots, len(plots)) if len(plots) > 1 else plots
    return tuple(label for plot in drawn for label in draw.sample(plot, len(plot)))
