"""Simulated fleets: each node runs a study that stops at its own verdict, and all are pooled.

A node's paired log-ratios have a true mean of its own and its own noise. ``spread`` is the standard
deviation of the logarithm of the nodes' noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iostudy.analysis.rule import Rule
from iostudy_fleet.meta_analysis import pool
from iostudy_fleet.pooling import NodeEffect, find_odd_nodes, pool_nodes
from tests.calibration.simulation import NOISE, SEED, carry_out

RISK = 0.05
RULE = Rule(margin=0.03, risk=RISK, min_blocks=5, max_blocks=30)
PAIRED_NOISE = NOISE * 2**0.5
MEAN = 0.03


@dataclass(frozen=True)
class Fleet:
    """A kind of fleet: number of nodes, and how much their effects and their noise differ."""

    nodes: int
    tau: float
    spread: float
    shift: float = 0.0
    """Distance of the first node from the others."""


@dataclass(frozen=True)
class Coverage:
    """Shares of fleets. ``separate``: with each node's own variance in place of the common one."""

    mean: float
    new_node: float
    separate: float
    named: float
    """Any node that is not shifted is named odd."""
    found: float
    """The shifted node is named odd."""


def cover(fleet: Fleet, fleets: int) -> Coverage:
    """How often intervals contain the truth, and nodes are named odd."""
    draw = np.random.default_rng([SEED, 20, fleet.nodes, int(1000 * fleet.tau)])
    outcomes = np.array([_judge(fleet, draw) for _ in range(fleets)])
    return Coverage(*map(float, outcomes.mean(axis=0)))


def _judge(fleet: Fleet, draw: np.random.Generator) -> tuple[bool, bool, bool, bool, bool]:
    truths = MEAN + fleet.tau * draw.standard_normal(fleet.nodes + 1)
    truths[0] += fleet.shift
    nodes = _measure(truths[:-1], fleet.spread, draw)
    pooled = pool_nodes(nodes)
    separate = pool([own.mean for own in nodes], [own.sd**2 / own.blocks for own in nodes])
    odd = {own.node for own in find_odd_nodes(nodes, RISK, tests=1)}
    shifted = {"0"} if fleet.shift else set()
    mean, new, alone = (
        own.low <= truth <= own.high
        for own, truth in (
            (pooled.interval(RISK), MEAN),
            (pooled.prediction(RISK), truths[-1]),
            (separate.interval(RISK), MEAN),
        )
    )
    return mean, new, alone, bool(odd - shifted), bool(odd & shifted)


def _measure(
    truths: np.ndarray, spread: float, draw: np.random.Generator
) -> tuple[NodeEffect, ...]:
    noise = PAIRED_NOISE * np.exp(spread * draw.standard_normal(len(truths)))
    normal = draw.standard_normal((len(truths), RULE.max_blocks))
    ratios = truths[:, None] + noise[:, None] * normal
    blocks = carry_out(ratios, RULE).blocks
    return tuple(
        NodeEffect(str(n), float(own[:count].mean()), float(own[:count].std(ddof=1)), int(count))
        for n, (own, count) in enumerate(zip(ratios, blocks, strict=True))
    )
