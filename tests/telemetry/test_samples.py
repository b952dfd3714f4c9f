"""Counters between samples: wraps, replaced devices and missing values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy._native import Reader
from iostudy.telemetry.samples import (
    Samples,
    counter_increments,
    mean_rates,
    sum_known,
    time_weighted_mean,
)

NAN = math.nan


@given(st.integers(2**31, 2**32 - 1), st.integers(0, 2**31 - 1))
def test_a_counter_of_32_bits_may_wrap_once(before, step):
    assert counter_increments(np.array([before, (before + step) % 2**32], float)).tolist() == [step]


@given(st.integers(1, 2**31 - 1) | st.integers(2**32, 2**50), st.data())
def test_a_counter_that_goes_back_in_any_other_way_began_anew(before, data):
    after = data.draw(st.integers(0, min(before - 1, 2**31)))
    assert np.isnan(counter_increments(np.array([before, after], float))).all()


def test_missing_samples_make_an_interval_unknown():
    steps = counter_increments(np.array([1, 4, NAN, 10, 12]))
    assert np.array_equal(steps, [3, NAN, NAN, 2], equal_nan=True)
    assert sum_known(steps) == 5
    assert math.isnan(sum_known(counter_increments(np.array([NAN, NAN]))))


def test_rare_readings_count_over_their_own_interval():
    seldom = np.array([NAN, 10, NAN, NAN, 16, NAN, 20])
    at = np.array([0, 1, 1.5, 2, 3, 3.5, 4.0])
    columns = {"steady": seldom, "faster": 2 * seldom}
    assert mean_rates(columns, at) == pytest.approx({"steady": 10 / 3, "faster": 20 / 3})
    once = mean_rates({"once": np.array([NAN, 4.0])}, np.array([0, 1.0]))
    assert math.isnan(once["once"])
    assert mean_rates({}, at) == {}


def test_the_interval_of_a_reset_does_not_count_for_the_reset_counter():
    columns = {"continues": np.array([0, 10, 20.0]), "restarts": np.array([90, 4, 14.0])}
    rates = mean_rates(columns, np.array([0, 1.0, 3.0]))
    assert rates == pytest.approx({"continues": 20 / 3, "restarts": 5})


def test_a_gauge_is_held_until_its_next_value():
    assert time_weighted_mean(np.array([1.0, 4.0, 100.0]), np.array([3.0, 1.0])) == pytest.approx(
        1.75
    )
    assert time_weighted_mean(np.array([NAN, 4.0, 100.0]), np.array([3.0, 1.0])) == 4.0
    assert time_weighted_mean(np.array([7.0]), np.array([])) == 7.0
    assert math.isnan(time_weighted_mean(np.array([NAN, NAN]), np.array([1.0])))


def test_columns_are_found_by_group_and_key():
    one = np.array([1.0])
    names = ("cpu.user", "cpu.0.busy", "disk.cciss/c0d0.reads", "disk.a.b.reads")
    samples = Samples(one, dict.fromkeys(names, one))
    assert set(samples.group("cpu")) == {"user"}
    assert set(samples.keyed("cpu")) == {"0"}
    assert set(samples.keyed("disk")) == {"cciss/c0d0", "a.b"}
    assert samples.keyed("nfs") == {}
    assert samples.group("nfs") == {}


def test_the_reader_hands_over_what_it_has_sampled_since_the_last_time():
    reader = Reader(None, [])
    for _ in range(3):
        reader.sample()
    samples = Samples.from_native(reader.take())
    assert len(samples.seconds) == 3
    assert samples.seconds[0] == 0
    assert np.all(samples.intervals > 0)
    assert np.all(counter_increments(samples.columns["clock.boottime_ns"]) > 0)
    reader.sample()
    assert len(Samples.from_native(reader.take()).seconds) == 2
