"""Where curves cross, by the names of configurations and the loads themselves (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostudy.analysis.scaling import Crossing
from iostudy.report.values.curves import Ends, MeetingTold


def told(
    found: Iterable[Crossing], labels: Sequence[str], loads: Sequence[float]
) -> tuple[MeetingTold, ...]:
    """Crossings of configurations, of which they have the indices, as those of loads."""
    return tuple(_meeting(each, labels, loads) for each in found)


def _meeting(crossing: Crossing, labels: Sequence[str], loads: Sequence[float]) -> MeetingTold:
    interval = crossing.interval
    return MeetingTold(
        overtaking=labels[crossing.overtaking],
        overtaken=labels[crossing.overtaken],
        below=loads[crossing.below],
        above=loads[crossing.above],
        load=crossing.load,
        interval=None if interval is None else Ends(low=interval[0], high=interval[1]),
    )
