"""Interim analyses of a switchback study."""

from __future__ import annotations

FIRST_LOOK = 10
"""Fewest blocks of a verdict; a t interval of fewer is wide and sensitive to skewness."""
LOOK_GROWTH = 0.1
"""Least increase of blocks between analyses, as a share; fewer than 40 for 300 blocks."""
