"""Study + seed -> Plan: every configuration once per block, in an order drawn afresh.

The plan holds the blocks up to the largest number that the decision rule allows. The conductor
leaves out what has been decided meanwhile; leaving out keeps the order of the rest random.
"""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass

from iostudy.study.model import Study

_SEED_BITS = 63
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
    return secrets.randbits(_SEED_BITS)


def make_plan(study: Study, seed: int) -> Plan:
    """Draw the order of workloads within a round and of configurations within a block."""
    draw = random.Random(seed)
    labels = [configuration.label for configuration in study.configurations()]
    workloads = [workload.label for workload in study.workloads]
    blocks = [
        Block(index, workload, tuple(draw.sample(labels, len(labels))))
        for index in range(1, study.decide.max_blocks + 1)
        for workload in draw.sample(workloads, len(workloads))
    ]
    return Plan(seed, tuple(blocks))
