"""Text rendering of a histogram as bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from iostudy.units import format_significant

BAR_LETTERS = 40


def format_bars(histogram: Iterable[tuple[float, int]]) -> Iterator[tuple[str, str, str]]:
    """Bound, share in percent and bar for each power of two, from the lowest to the highest.

    Given are counts with their upper bounds, which are above zero.
    """
    counts: dict[int, int] = {}
    for bound, count in histogram:
        power = math.ceil(math.log2(bound))
        counts[power] = counts.get(power, 0) + count
    total, highest = sum(counts.values()), max(counts.values())
    for power in range(min(counts), max(counts) + 1):
        count = counts.get(power, 0)
        bar = "█" * round(BAR_LETTERS * count / highest)
        share = format_significant(100 * count / total)
        upper = str(2**power) if power >= 0 else format_significant(2.0**power)
        yield upper, share, bar or "▏" * bool(count)
