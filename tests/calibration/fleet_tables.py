"""Table of docs/method/calibration.md on fleets."""

from __future__ import annotations

from tests.calibration.fleets import Fleet, cover
from tests.calibration.rows import Row, percent

FLEETS = 500
KINDS = tuple(
    Fleet(nodes, tau, spread)
    for nodes in (3, 5, 10, 30)
    for tau, spread in ((0.0, 0.0), (0.02, 0.0), (0.1, 0.0), (0.0, 0.5), (0.02, 0.5))
)
SHIFTED = tuple(Fleet(nodes, 0.02, 0.3, shift) for nodes in (5, 10, 30) for shift in (-0.15, -0.3))


def fleet_intervals() -> list[Row]:
    """Coverage of mean and prediction interval, and odd nodes named where none is odd."""
    heads = ("nodes", "tau", "spread of noise", "mean", "new node", "own variances", "named")
    rows: list[Row] = [heads]
    for kind in KINDS:
        found = cover(kind, FLEETS)
        shares = (found.mean, found.new_node, found.separate, found.named)
        rows.append((str(kind.nodes), f"{kind.tau:g}", f"{kind.spread:g}", *map(percent, shares)))
    return rows


def odd_nodes() -> list[Row]:
    """How often an odd node is named, and another one."""
    rows: list[Row] = [("nodes", "log-ratio to the others", "named", "another named")]
    for kind in SHIFTED:
        found = cover(kind, FLEETS)
        rows.append(
            (str(kind.nodes), f"{kind.shift:g}", percent(found.found), percent(found.named))
        )
    return rows


TABLES = (fleet_intervals, odd_nodes)
