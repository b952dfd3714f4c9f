"""Histograms keep what they count, at the width that was chosen for them."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.workloads.native.latency import (
    PERCENTILES,
    compact_histogram,
    latency_figures,
    latency_readings,
    merge_buckets,
    percentile_us,
    pool_histograms,
)

WIDTH = 2 ** (1 / 16)
BUCKETS = st.lists(
    st.tuples(st.floats(min_value=1e-3, max_value=1e9), st.integers(1, 10**9)), max_size=50
)
SOME = BUCKETS.filter(bool)


class Result:
    """A native job's result of one latency of 10 us and three of 1000 us."""

    max_us = 1000.0

    def percentiles_us(self, percentiles):
        return [1000.0 for _ in percentiles]

    def histogram_us(self):
        return [(10.0, 1), (1000.0, 3)]


@given(BUCKETS)
def test_no_count_is_lost_and_bounds_ascend(buckets):
    histogram = merge_buckets(buckets)
    assert sum(count for _, count in histogram) == sum(count for _, count in buckets)
    assert all(low < high for (low, _), (high, _) in pairwise(histogram))
    assert all(count > 0 for _, count in histogram)


@given(st.floats(min_value=1e-3, max_value=1e9))
def test_a_latency_lies_in_its_bucket(latency):
    ((upper, _),) = merge_buckets([(latency, 1)])
    assert upper / WIDTH * (1 - 1e-4) < latency <= upper * (1 + 1e-4)


@given(BUCKETS)
def test_merged_counts_stay_in_their_buckets(buckets):
    once = merge_buckets(buckets)
    assert merge_buckets(once) == once


@given(BUCKETS, BUCKETS)
def test_pooling_is_merging_at_once(one, other):
    assert pool_histograms([merge_buckets(one), merge_buckets(other)]) == merge_buckets(
        [*one, *other]
    )


@given(SOME, st.sampled_from([0.1, 1.0, 50.0, 95.0, 99.0, 99.9, 100.0]))
def test_a_percentile_is_the_first_bound_that_keeps_so_many_within(buckets, percentile):
    histogram = merge_buckets(buckets)
    total = sum(count for _, count in histogram)
    found = percentile_us(histogram, percentile)
    within = sum(count for upper, count in histogram if upper <= found)
    below = sum(count for upper, count in histogram if upper < found)
    assert 10 * within * 100 >= round(10 * percentile) * total
    assert 10 * below * 100 < round(10 * percentile) * total


def test_percentiles_of_a_known_distribution():
    histogram = tuple((float(us), 1) for us in range(1, 1001))
    assert [percentile_us(histogram, p) for p in (50, 99, 99.9, 100)] == [500, 990, 999, 1000]
    assert math.isclose(percentile_us(((5.0, 7),), 50), 5.0)


def test_a_native_result_becomes_figures_and_a_histogram():
    readings = latency_readings(Result())
    assert list(readings) == [figure.name for figure in latency_figures("a record")]
    assert set(readings.values()) == {1000.0}
    assert len(readings) == len(PERCENTILES) + 1
    assert [count for _, count in compact_histogram(Result())] == [1, 3]
    assert compact_histogram(Result())[0][0] == pytest.approx(10.0, rel=WIDTH - 1)


def test_figures_can_be_of_several_operations():
    assert latency_figures("a rename", "rename")[0].name == "rename_p50"
    assert "rename_max" in latency_readings(Result(), "rename")
