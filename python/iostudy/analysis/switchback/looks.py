"""Numbers of blocks after which the comparisons of a switchback study are analysed."""

from __future__ import annotations

FIRST_LOOK = 10
"""Fewest blocks of a verdict; a t interval of fewer is wide and sensitive to skewness."""
_GROWTH = 1.4


def list_looks(max_blocks: int) -> tuple[int, ...]:
    """Return geometrically growing numbers of blocks up to ``max_blocks``.

    An analysis after each of hundreds of blocks would add little information and take much of the
    risk.
    """
    looks, count = [], float(FIRST_LOOK)
    while count < max_blocks:
        looks.append(round(count))
        count *= _GROWTH
    return (*looks, max(max_blocks, FIRST_LOOK))
