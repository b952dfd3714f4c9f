"""Agreement of two orders, and of differences (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

_TOLERANCE_SECONDS = 1e-3


def order_agreement(order: Sequence[int], other: Sequence[int]) -> float:
    """Return the longest common subsequence of two permutations, as a share of their length."""
    place = {value: index for index, value in enumerate(other)}
    ends: list[int] = []
    for value in order:
        index = place[value]
        at = bisect_left(ends, index)
        ends[at : at + 1] = [index]
    return len(ends) / len(order) if order else 1.0


def punctual_share(issued: Sequence[float], dispatched: Sequence[float]) -> float:
    """Return the share of requests with two times, in seconds, that differ by 1 ms at most."""
    pairs = zip(issued, dispatched, strict=True)
    return (
        fmean(abs(real - model) <= _TOLERANCE_SECONDS for real, model in pairs) if issued else 1.0
    )


def decided_signs(
    kernel: Mapping[str, Sequence[float]], predicted: Mapping[str, float], least: float
) -> list[tuple[str, str, bool]]:
    """Return the pairs that the kernel decides, and whether the prediction has the same sign.

    A pair is decided if all runs of one are above all runs of the other, and the means differ by
    more than ``least``.
    """
    decided = []
    for one, two in combinations(kernel, 2):
        low, high = sorted((one, two), key=lambda name: fmean(kernel[name]))
        apart = min(kernel[high]) > max(kernel[low])
        if apart and fmean(kernel[high]) > (1 + least) * fmean(kernel[low]):
            decided.append((high, low, predicted[high] > predicted[low]))
    return decided
