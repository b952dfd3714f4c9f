"""Crossings of curves, by labels and loads (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostudy.analysis.scaling import CrossingEstimate
from iostudy.report.topics.scaling.values import CurveCrossing, ValueInterval


def build_crossings(
    found: Iterable[CrossingEstimate], labels: Sequence[str], loads: Sequence[float]
) -> tuple[CurveCrossing, ...]:
    """Crossings of configurations, of which they have the indices, as those of loads."""
    return tuple(_meeting(each, labels, loads) for each in found)


def _meeting(
    crossing: CrossingEstimate, labels: Sequence[str], loads: Sequence[float]
) -> CurveCrossing:
    interval = crossing.interval
    return CurveCrossing(
        overtaking=labels[crossing.overtaking],
        overtaken=labels[crossing.overtaken],
        below=loads[crossing.below],
        above=loads[crossing.above],
        load=crossing.load,
        interval=None if interval is None else ValueInterval(low=interval[0], high=interval[1]),
    )
