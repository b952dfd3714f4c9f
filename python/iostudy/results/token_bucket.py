"""Rate limit with burst credit, as of cloud disks: a common floor of many trials (pure).

Such a disk serves a burst from its credit and then a constant rate (a token bucket). A trial may
lie in the burst, on the floor, or reach it on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iostudy.ledger.rows import TrialRow
from iostudy.telemetry.summary import Figures

Array = NDArray[np.float64]

_MIN_DROPS = 3
"""Trials that must reach the floor on the way: fewer may agree by chance."""
_CLEAR = 30.0
"""Percent of a trial on its floor, from which on the floor's rate is exact."""
_NEAR = 0.1
"""Relative distance up to which rates count as the same floor, as a limiter's are constant."""
_AGREEING = 0.75
"""Share of the clear drops that must end on the common floor."""
_ABOVE = 1.4
"""Rates up to so many times the floor belong to it: a part of the burst may be among them."""


def find_floor_shares(rows: Sequence[TrialRow]) -> Array:
    """Return the percentage of each trial on the common floor; all 0 without one.

    NaN for a trial whose samples were too few to know.
    """
    devices = [_device(row) for row in rows]
    known = np.array(["%stalled" in own for own in devices])
    floors = np.array([own.get("floor_kB/s", np.nan) for own in devices])
    on_the_way = np.array([own.get("%floor", 0.0) for own in devices])
    common = _common_floor(floors[on_the_way >= _CLEAR])
    shares = np.zeros(len(rows))
    if common is not None:
        means = np.array([own.get("rkB/s", 0.0) + own.get("wkB/s", 0.0) for own in devices])
        rates = np.where(np.isnan(floors), means, floors)
        is_on_floor = (rates >= (1 - _NEAR) * common) & (rates <= _ABOVE * common)
        shares = np.where(is_on_floor, np.where(np.isnan(floors), 100.0, on_the_way), 0.0)
    return np.where(known, shares, np.nan)


def _device(row: TrialRow) -> Figures:
    return row.summary.devices.get(row.device, {}) if row.summary else {}


def _common_floor(floors: Array) -> float | None:
    """Return the floor in kB/s on which nearly all drops end; None without one."""
    if len(floors) < _MIN_DROPS:
        return None
    common = float(np.median(floors))
    is_near = np.abs(floors - common) <= _NEAR * common
    return common if float(is_near.mean()) >= _AGREEING else None
