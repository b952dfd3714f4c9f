from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from iostudy_search.optimizer.candidates import CandidateResult, SearchPolicy
from iostudy_search.optimizer.propose import latin_hypercube
from iostudy_search.optimizer.response import MainEffectCurve, ResponseModel, estimate_response
from iostudy_search.optimizer.space import (
    Choices,
    Parameter,
    ParameterCondition,
    Point,
    Range,
    SearchSpace,
)
from iostudy_search.optimizer.surrogate import DRAWS, draw_posterior, main_effect_term

READ_AHEAD = Parameter("read_ahead_kb", Range(1024, 32768, log=True))
REQUESTS = Parameter("nr_requests", Range(32, 512))
SCHEDULER = Parameter("scheduler", Choices(("none", "bfq", "kyber")))
IDLE = Parameter("slice_idle", Range(0, 100), ParameterCondition("scheduler", ("bfq",)))
SPACE = SearchSpace((SCHEDULER, IDLE, READ_AHEAD, REQUESTS))
RULES = SearchPolicy(first=12, slots=4)
NOISE = 0.02


def share(parameter: Parameter, point: Point) -> float:
    return parameter.domain.share(point[parameter.name])


def peak(point: Point) -> float:
    """At 0.6 of read-ahead's scale, with bfq better, and a slope of its slice_idle."""
    effect = -0.4 * (share(READ_AHEAD, point) - 0.6) ** 2
    if point["scheduler"] != "bfq":
        return effect
    return effect + 0.1 + 0.1 * (share(IDLE, point) - 0.5)


def simulate_candidates(
    surface: Callable[[Point], float], candidates: int, noise: float = NOISE
) -> list[CandidateResult]:
    draw = np.random.default_rng(1)
    blocks = 8
    default = noise * draw.normal(size=blocks)
    found = []
    for index, point in enumerate(latin_hypercube(SPACE, candidates, seed=1)):
        own = surface(point) + noise * draw.normal(size=blocks) - default
        own[[2, 4, 8][index % 3] :] = np.nan
        found.append(CandidateResult(point, (own,)))
    return found


def curve(found: ResponseModel | None, name: str) -> MainEffectCurve:
    assert found is not None
    return next(each for each in found.curves if each.parameter == name)


@pytest.fixture(scope="module")
def found() -> ResponseModel:
    model = estimate_response(SPACE, simulate_candidates(peak, 40), RULES, seed=1)
    assert model is not None
    return model


def test_a_curve_has_its_optimum_where_it_is(found: ResponseModel):
    read_ahead = curve(found, "read_ahead_kb")
    best = read_ahead.values[int(np.argmax(read_ahead.effect))]
    assert READ_AHEAD.domain.share(best) == pytest.approx(0.6, abs=0.12)
    assert read_ahead.values[0] == "1024"
    assert read_ahead.values[-1] == "32768"


def test_a_curve_is_over_the_default_and_holds_the_truth(found: ResponseModel):
    read_ahead = curve(found, "read_ahead_kb")
    places = np.array([READ_AHEAD.domain.share(value) for value in read_ahead.values])
    truth = -0.4 * (places - 0.6) ** 2 + 0.1 / 3
    inside = (read_ahead.low <= truth) & (truth <= read_ahead.high)
    assert inside.mean() > 0.9
    assert (read_ahead.high - read_ahead.low).max() < 0.1


def test_the_posterior_keeps_so_many_thinned_draws():
    points = [{READ_AHEAD.name: str(1024 * number)} for number in (1, 2, 4, 8)]
    term = main_effect_term(READ_AHEAD, ("1024", "32768"), points)
    drawn = draw_posterior([term], np.arange(4.0), 0.01 * np.eye(4), seed=1)
    assert len(drawn.constant) == len(drawn.parts[0]) == DRAWS


def test_names_have_their_own_levels(found: ResponseModel):
    scheduler = curve(found, "scheduler")
    assert scheduler.values == ("none", "bfq", "kyber")
    assert scheduler.low[1] > max(scheduler.high[0], scheduler.high[2])


def test_a_conditional_parameter_has_a_curve_where_its_condition_holds(found: ResponseModel):
    idle, scheduler = curve(found, "slice_idle"), curve(found, "scheduler")
    assert idle.effect.mean() == pytest.approx(scheduler.effect[1], abs=0.01)
    assert idle.effect[-1] - idle.effect[0] == pytest.approx(0.1, abs=0.05)


def test_importance_is_that_of_the_variance(found: ResponseModel):
    shares = {each.parameter: each for each in found.importance}
    assert set(shares) == {"scheduler", "slice_idle", "read_ahead_kb", "nr_requests", None}
    # Variances over the space: 0.1^2 * 2/9, 0.4^2 * var((x - 0.6)^2), (0.1^2 / 12) / 3 and 0.
    assert shares["scheduler"].low < 0.55 < shares["scheduler"].high
    assert shares["read_ahead_kb"].low < 0.4 < shares["read_ahead_kb"].high
    assert shares["nr_requests"].high < 0.1
    assert all(0 <= each.low <= each.share <= each.high <= 1 for each in found.importance)


def test_no_importance_is_reported_where_nothing_matters():
    flat = estimate_response(
        SPACE, simulate_candidates(lambda _: 0.0, 16, noise=0.06), RULES, seed=1
    )
    assert flat is not None
    assert flat.importance == ()
    assert all((each.low <= 0).all() and (each.high >= 0).all() for each in flat.curves)


def test_fewer_figures_widen_the_interval(found: ResponseModel):
    vague = estimate_response(SPACE, simulate_candidates(peak, 14, noise=0.06), RULES, seed=1)
    wide, narrow = curve(vague, "read_ahead_kb"), curve(found, "read_ahead_kb")
    assert (wide.high - wide.low).mean() > 2 * (narrow.high - narrow.low).mean()


def test_an_interaction_is_not_a_main_effect():
    def crossed(point: Point) -> float:
        return 0.4 * (share(READ_AHEAD, point) - 0.5) * (share(REQUESTS, point) - 0.5)

    model = estimate_response(SPACE, simulate_candidates(crossed, 30, noise=0.01), RULES, seed=1)
    assert model is not None
    shares = {each.parameter: each.share for each in model.importance}
    assert shares[None] > 0.6


def test_too_few_candidates_give_no_model():
    many = simulate_candidates(peak, 40)
    assert estimate_response(SPACE, many[:11], RULES, seed=1) is None
    assert estimate_response(SPACE, [], RULES, seed=1) is None
    identical = [replace(each, point=many[0].point) for each in many]
    assert estimate_response(SPACE, identical, RULES, seed=1) is None


def test_without_a_noise_estimate_there_is_no_model():
    once = [replace(each, ratios=(each.ratios[0][:1],)) for each in simulate_candidates(peak, 40)]
    assert estimate_response(SPACE, once, RULES, seed=1) is None


def test_refused_candidates_do_not_count():
    many = simulate_candidates(peak, 14)
    refused = [
        CandidateResult(each.point, (np.array([5.0]),), refused=True)
        for each in simulate_candidates(peak, 20)[14:]
    ]
    model = estimate_response(SPACE, [*many, *refused], RULES, seed=1)
    assert model is not None
    assert model.candidates == 14


def test_a_single_parameter_has_no_interaction_and_the_same_answer_again():
    space = SearchSpace((READ_AHEAD,))
    points = [{"read_ahead_kb": str(1024 + 3000 * step)} for step in range(10)]
    many = [
        replace(each, point=own)
        for each, own in zip(simulate_candidates(peak, 10), points, strict=True)
    ]
    model, again = (estimate_response(space, many, RULES, seed=1) for _ in range(2))
    assert model is not None
    assert again is not None
    assert len(model.importance) <= 1
    assert again.importance == model.importance
    assert (again.curves[0].effect == model.curves[0].effect).all()


def test_figures_that_never_vary_are_flat_and_nothing_matters():
    model = estimate_response(
        SPACE, simulate_candidates(lambda _point: 0.0, 14, noise=0.0), RULES, seed=1
    )
    assert model is not None
    assert model.importance == ()
    scheduler = curve(model, "scheduler")
    assert np.abs([scheduler.low, scheduler.high]).max() < 1e-3
