"""Latencies of a native job as figures and as a histogram short enough to keep."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate, chain

from iostudy._native import Latencies
from iostudy.workloads.definition import Figure
from iostudy.workloads.measurement import Histogram

PERCENTILES = {50.0: "median", 95.0: "95th percentile", 99.0: "99th percentile"} | {
    99.9: "99.9th percentile"
}
_BUCKETS_PER_OCTAVE = 16
"""4.4 % wide: finer than runs of the same configuration agree, and a few hundred at most."""

_SHORTEST_US = 1e-3
"""A nanosecond, the finest resolution of the clocks."""
_ROUNDING = 1e-4
"""Rounding error of a bound's six digits, in buckets; values stay in their buckets."""


def latency_figures(of: str, prefix: str = "latency") -> tuple[Figure, ...]:
    """Return the figures of `latency_readings`, such as "latency_p99".

    ``of`` names the operations.
    """
    quantiles = {f"p{p:g}": words for p, words in PERCENTILES.items()} | {"max": "longest"}
    return tuple(
        Figure(f"{prefix}_{name}", "us", f"{words} latency of {of}", False)
        for name, words in quantiles.items()
    )


def latency_readings(latencies: Latencies, prefix: str = "latency") -> dict[str, float]:
    """Percentiles and maximum in microseconds, by the names of `latency_figures`."""
    values = latencies.percentiles_us(list(PERCENTILES))
    named = {f"{prefix}_p{p:g}": value for p, value in zip(PERCENTILES, values, strict=True)}
    return named | {f"{prefix}_max": latencies.max_us}


def histogram_readings(
    histogram: Histogram, longest_us: float, prefix: str = "latency"
) -> dict[str, float]:
    """The same out of a histogram that is not empty, and the longest latency."""
    values = percentiles_us(histogram, longest_us) | {"max": longest_us}
    return {f"{prefix}_{name}": value for name, value in values.items()}


def compact_histogram(latencies: Latencies) -> Histogram:
    """The histogram in buckets of equal ratio."""
    return merge_buckets(latencies.histogram_us())


def merge_buckets(buckets: Iterable[tuple[float, int]]) -> Histogram:
    """Buckets of any width, as (upper bound in us, count), put into those of equal ratio."""
    counts: dict[int, int] = {}
    for upper, count in buckets:
        bucket = math.ceil(math.log2(max(upper, _SHORTEST_US)) * _BUCKETS_PER_OCTAVE - _ROUNDING)
        counts[bucket] = counts.get(bucket, 0) + count
    return tuple(
        (float(f"{2 ** (bucket / _BUCKETS_PER_OCTAVE):.6g}"), counts[bucket])
        for bucket in sorted(counts)
    )


def pool_histograms(histograms: Iterable[Histogram]) -> Histogram:
    """Pool the latencies of several runs."""
    # Runs have most bounds in common: each is put into its bucket once.
    counts: dict[float, int] = {}
    for upper, count in chain.from_iterable(histograms):
        counts[upper] = counts.get(upper, 0) + count
    return merge_buckets(counts.items())


def percentile_us(histogram: Histogram, percentile: float) -> float:
    """Return the upper bound of the bucket with a percentile of (0, 100]; not of an empty one.

    By rank: the smallest bound that at least so large a share of all latencies keeps within.
    """
    within = list(accumulate(count for _, count in histogram))
    rank = math.ceil(Fraction(str(percentile)) / 100 * within[-1])
    return histogram[bisect_left(within, rank)][0]


def percentiles_us(histogram: Histogram, longest_us: float = math.inf) -> dict[str, float]:
    """``p50`` to ``max`` of a histogram that is not empty, as upper bounds of buckets.

    None is beyond the longest latency, where that is known.
    """
    bounds = {f"p{p:g}": percentile_us(histogram, p) for p in PERCENTILES}
    bounds["max"] = histogram[-1][0]
    return {name: min(bound, longest_us) for name, bound in bounds.items()}
