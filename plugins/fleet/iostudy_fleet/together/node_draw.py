"""Random choice of the nodes of a block (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def draw_nodes(nodes: Sequence[str], count: int | None, round_seed: int) -> tuple[str, ...]:
    """The first nodes of a random order of all; every one without a count.

    All loads of a round have the same order, so the nodes of a load contain those of a smaller one.
    The place of a node in it is independent of the others, so a lost node changes no other's.
    """
    if count is None:
        return tuple(nodes)
    return tuple(sorted(nodes, key=lambda node: _draw(node, round_seed))[:count])


def _draw(node: str, round_seed: int) -> bytes:
    return hashlib.sha256(f"{round_seed} {node}".encode()).digest()
