import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy_search.optimizer.space import (
    Choices,
    Parameter,
    ParameterCondition,
    Range,
    SearchSpace,
)

READ_AHEAD = Parameter("read_ahead_kb", Range(1024, 32768, log=True, step=4))
SCHEDULER = Parameter("scheduler", Choices(("none", "bfq", "kyber")))
SLICE = Parameter("slice_idle", Range(0, 10), ParameterCondition("scheduler", ("bfq",)))
LATENCY = Parameter("low_latency", Choices(("0", "1")), ParameterCondition("scheduler", ("bfq",)))
STRICT = Parameter("strict", Choices(("a", "b", "c")), ParameterCondition("low_latency", ("1",)))


def test_values_are_the_multiples_inside():
    assert list(Range(3, 17, step=4).values()) == ["4", "8", "12", "16"]
    assert list(Range(0.1, 0.5, step=0.1).values()) == ["0.1", "0.2", "0.3", "0.4", "0.5"]
    assert list(Range(1.5, 4).values()) == ["2", "3", "4"]
    assert list(Range(0, 2e6, step=1e6).values()) == ["0", "1000000", "2000000"]


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.sampled_from([1, 4, 0.5, 0.3, 1000]))
def test_a_range_finds_its_own_values_again(low: int, width: int, step: float):
    range_ = Range(low, low + max(width, step), step=step)
    for multiple in (range_.first, range_.last):
        text = range_.text(multiple)
        assert low <= float(text) <= low + max(width, step)
        assert range_.multiple(text) == multiple
        assert range_.quantile(range_.share(text)) == text


@pytest.mark.parametrize(("range_", "middle"), [(Range(1, 1024), 512), (Range(1, 1024, True), 32)])
def test_even_shares_meet_values_evenly_on_the_scale(range_: Range, middle: int):
    found = [int(range_.quantile((place + 0.5) / 1000)) for place in range(1000)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == pytest.approx((1, 1024), rel=0.01)
    assert found[500] == pytest.approx(middle, rel=0.3)


def test_a_spread_has_both_ends_and_no_value_twice():
    assert Range(1, 1024, log=True).spread(11)[::5] == ("1", "32", "1024")
    assert Range(1, 3).spread(25) == ("1", "2", "3")
    assert Choices(("a", "b")).spread(1) == ("a", "b")


def test_the_share_is_that_of_the_scale():
    assert Range(1024, 4096, log=True).share("2048") == pytest.approx(0.5)
    assert Range(0, 10).share("5") == 0.5
    assert Range(7, 7).share("7") == 0.5


@pytest.mark.parametrize(
    ("range_", "wrong"),
    [
        ((5, 7, False, 4), "no multiple of 4 from 5 to 7"),
        ((0, 7, True, 1), "above 0, not from 0"),
        ((1, 7, False, 0), "step must be a number above 0"),
        ((1, 7, False, math.inf), "step must be a number above 0"),
    ],
)
def test_an_impossible_range(range_: tuple[float, float, bool, float], wrong: str):
    with pytest.raises(ValueError, match=wrong):
        Range(*range_)


@pytest.mark.parametrize("names", [(), ("a", "b", "a")])
def test_impossible_choices(names: tuple[str, ...]):
    with pytest.raises(ValueError, match="different names"):
        Choices(names)


def test_conditions_on_conditions():
    space = SearchSpace((SCHEDULER, SLICE, LATENCY, STRICT))
    points = [space.canonical(point) for point in space.points()]
    assert len(points) == len(set(points)) == space.size == 2 + 11 * (1 + 3)
    assert (("scheduler", "none"),) in points


def test_the_size_of_a_space_that_nobody_could_list():
    wide = Parameter("wide", Range(1, 10**9))
    assert SearchSpace((SCHEDULER, SLICE, wide)).size == (2 + 11) * 10**9
    many = tuple(Parameter(f"choice {number}", Choices(("0", "1"))) for number in range(60))
    assert SearchSpace((SCHEDULER, SLICE, *many)).size == (2 + 11) * 2**60


def test_a_point_has_one_form():
    space = SearchSpace((SCHEDULER, SLICE, READ_AHEAD))
    form = (("scheduler", "none"), ("read_ahead_kb", "2048"))
    assert space.canonical({"read_ahead_kb": "2048", "scheduler": "none"}) == form
    assert space.canonical({**dict(form), "slice_idle": "8"}) == form


@pytest.mark.parametrize(
    ("parameters", "wrong"),
    [
        ((READ_AHEAD, READ_AHEAD), "read_ahead_kb appears twice"),
        ((SLICE, SCHEDULER), "slice_idle depends on scheduler, no earlier choice"),
        (
            (SCHEDULER, Parameter("x", Range(1, 2), ParameterCondition("scheduler", ("cfq",)))),
            "x depends on .*cfq.* not all",
        ),
        (
            (
                READ_AHEAD,
                Parameter("x", Range(1, 2), ParameterCondition("read_ahead_kb", ("1024",))),
            ),
            "x depends on read_ahead_kb",
        ),
    ],
)
def test_an_impossible_space(parameters: tuple[Parameter, ...], wrong: str):
    with pytest.raises(ValueError, match=wrong):
        SearchSpace(parameters)
