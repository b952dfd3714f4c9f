from collections import Counter
from itertools import chain

import numpy as np
import pytest

from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy
from iostudy_search.optimizer.propose import latin_hypercube, propose
from iostudy_search.optimizer.space import (
    Choices,
    Parameter,
    ParameterCondition,
    Point,
    Range,
    SearchSpace,
)

READ_AHEAD = Parameter("read_ahead_kb", Range(1024, 32768, log=True, step=4))
REQUESTS = Parameter("nr_requests", Range(32, 512))
SCHEDULER = Parameter("scheduler", Choices(("none", "bfq", "kyber")))
IDLE = Parameter("slice_idle", Range(0, 100), ParameterCondition("scheduler", ("bfq",)))
SPACE = SearchSpace((SCHEDULER, IDLE, READ_AHEAD, REQUESTS))
RULES = SearchPolicy(first=12, slots=4)


def measured(point: Point, value: float, blocks: int = 8) -> CandidateResult:
    wobble = 0.01 * np.resize([1.0, -1.0, -1.0, 1.0], blocks)
    return CandidateResult(point, (value + wobble,))


def test_a_hypercube_is_spread_evenly_along_each_parameter_also_where_few_have_it():
    points = latin_hypercube(SPACE, 12, seed=5)
    assert Counter(point["scheduler"] for point in points) == {"none": 4, "bfq": 4, "kyber": 4}
    idle = sorted(int(point["slice_idle"]) for point in points if "slice_idle" in point)
    assert len(idle) == 4
    assert [place // 25 for place in idle] == [0, 1, 2, 3]
    strata = sorted(int(12 * READ_AHEAD.domain.share(point["read_ahead_kb"])) for point in points)
    assert strata == list(range(12))


def test_first_the_hypercube_also_in_parts():
    whole = propose(SPACE, [], 12, 3, RULES)
    assert len({SPACE.canonical(point) for point in whole}) == 12
    some = propose(SPACE, [], 5, 3, RULES)
    rest = propose(SPACE, [CandidateResult(point) for point in some], 7, 3, RULES)
    assert (*some, *rest) == whole
    assert propose(SPACE, [], 12, 4, RULES) != whole


def test_the_same_arguments_give_the_same_points():
    candidates = [
        measured(point, 0.01 * i) for i, point in enumerate(propose(SPACE, [], 12, 3, RULES))
    ]
    first = propose(SPACE, candidates, 4, 3, RULES)
    assert first == propose(SPACE, candidates, 4, 3, RULES)
    assert first != propose(SPACE, candidates, 4, 4, RULES)
    assert len({SPACE.canonical(point) for point in first}) == 4


def test_every_point_lies_in_the_space():
    candidates = [
        measured(point, 0.01 * i) for i, point in enumerate(propose(SPACE, [], 12, 3, RULES))
    ]
    for point in chain(propose(SPACE, [], 12, 3, RULES), propose(SPACE, candidates, 30, 3, RULES)):
        assert dict(SPACE.canonical(point)) == point
        assert point["scheduler"] in SCHEDULER.domain.names
        assert int(point["read_ahead_kb"]) in range(1024, 32769, 4)


@pytest.mark.parametrize("step", [5, 25])
def test_a_space_is_used_up_and_no_point_comes_twice(step: int):
    space = SearchSpace(
        (SCHEDULER, Parameter("slice_idle", Range(0, 100, step=step), IDLE.condition))
    )
    candidates: list[CandidateResult] = []
    while points := propose(space, candidates, 9, 1, SearchPolicy(first=4, slots=9)):
        candidates += [measured(point, 0.01) for point in points]
    assert len(candidates) == space.size
    assert len({space.canonical(each.point) for each in candidates}) == space.size


def test_chance_finds_what_is_left_of_a_space_too_large_to_list(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("iostudy_search.optimizer.propose.MAX_ENUMERATED_POINTS", 10)
    space = SearchSpace((Parameter("a", Range(1, 40)),))
    candidates = [measured({"a": str(value)}, 0.1) for value in range(1, 37)]
    left = propose(space, candidates, 9, 1, SearchPolicy(first=2, slots=4))
    assert sorted(int(point["a"]) for point in left) == [37, 38, 39, 40]


def test_proposals_gather_where_it_is_good():
    candidates: list[CandidateResult] = []
    best = READ_AHEAD.domain.share("8192")
    while len(candidates) < 30:
        for point in propose(SPACE, candidates, 4, 7, RULES):
            off = READ_AHEAD.domain.share(point["read_ahead_kb"]) - best
            candidates.append(measured(point, 0.2 - off**2 - 0.2 * (point["scheduler"] == "none")))
    late = [each.point for each in candidates[20:]]
    near = [abs(READ_AHEAD.domain.share(point["read_ahead_kb"]) - best) < 0.25 for point in late]
    assert np.mean(near) > 0.6
    assert np.mean([point["scheduler"] == "none" for point in late]) < 0.2


def test_a_lucky_block_leads_less_than_a_steady_advantage():
    """Of two equally good estimates the one of more blocks ranks as the better one."""
    from iostudy_search.optimizer.propose import _past_trials

    points = latin_hypercube(SPACE, 6, seed=5)
    lucky = CandidateResult(points[0], (np.array([0.3]),))
    steady = measured(points[1], 0.3)
    rest = [measured(point, -0.1 * i) for i, point in enumerate(points[2:])]
    noisy = CandidateResult(points[5], (np.array([0.5, -0.5, 0.4, -0.4]),))
    estimates = [trial.value for trial in _past_trials(SPACE, [lucky, steady, noisy, *rest], RULES)]
    assert estimates[0] < estimates[1] < 0.3


def test_proposals_avoid_candidates_that_exceed_a_limit():
    rules = SearchPolicy(first=12, slots=4, worst=-0.05)
    candidates: list[CandidateResult] = []
    while len(candidates) < 30:
        for point in propose(SPACE, candidates, 4, 7, rules):
            high = READ_AHEAD.domain.share(point["read_ahead_kb"]) > 0.5
            harm = measured(point, -0.3 if high else 0.0).ratios
            candidates.append(
                CandidateResult(point, (*measured(point, 0.4 if high else 0.1).ratios, *harm))
            )
    late = [READ_AHEAD.domain.share(each.point["read_ahead_kb"]) > 0.5 for each in candidates[20:]]
    assert np.mean(late) < 0.4
