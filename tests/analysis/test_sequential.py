import math

import numpy as np
import pytest
from scipy import special

from iostudy.analysis.sequential import (
    _solve,
    crossing_of_levels,
    crossing_probability,
    plan_looks,
    repeated_alpha,
    spend_in_stages,
)
from iostudy.analysis.spending import spent
from tests.analysis.finer_grid import finer_grid

SEED = 20240611


def simulated_risk(min_blocks: int, max_blocks: int, alpha: float, studies: int) -> float:
    """The definition of a*, carried out: studies of pure noise, looked at after every block."""
    noise = np.random.default_rng(SEED).standard_normal((studies, max_blocks))
    n = np.arange(min_blocks, max_blocks + 1)
    mean = noise.cumsum(axis=1)[:, min_blocks - 1 :] / n
    squares = (noise**2).cumsum(axis=1)[:, min_blocks - 1 :]
    t = mean / np.sqrt((squares / n - mean**2) / (n - 1))
    return float((np.abs(t) > -special.stdtrit(n - 1, alpha / 2)).any(axis=1).mean())


@pytest.mark.parametrize("start", [3.0, 5.0])
def test_an_exact_root_is_returned_at_once(start: float):
    tried: list[float] = []

    def excess(x: float) -> float:
        tried.append(x)
        return x - 3

    assert _solve(excess, 0, 10, start) == tried[-1] == 3


@pytest.mark.parametrize(
    ("min_blocks", "max_blocks", "risk"),
    [(5, 10, 0.05), (5, 30, 0.05), (5, 60, 0.05), (2, 12, 0.05), (3, 20, 0.01), (5, 12, 0.4)],
)
def test_the_risk_of_ever_being_wrong_is_the_requested_one(
    min_blocks: int, max_blocks: int, risk: float
):
    studies = 50_000
    achieved = simulated_risk(
        min_blocks, max_blocks, repeated_alpha(min_blocks, max_blocks, risk), studies
    )
    assert abs(achieved - risk) <= 3 * math.sqrt(risk * (1 - risk) / studies)


@pytest.mark.slow
@pytest.mark.parametrize(("min_blocks", "max_blocks"), [(5, 30), (2, 30)])
def test_the_risk_shared_among_24_comparisons(min_blocks: int, max_blocks: int):
    risk, studies = 0.05 / 24, 500_000
    achieved = simulated_risk(
        min_blocks, max_blocks, repeated_alpha(min_blocks, max_blocks, risk), studies
    )
    assert abs(achieved - risk) <= 3 * math.sqrt(risk * (1 - risk) / studies)


@pytest.mark.parametrize(
    ("max_blocks", "alpha"),
    [(10, 0.0179), (15, 0.0122), (20, 0.0101), (30, 0.0077), (40, 0.0067), (60, 0.0053)],
)
def test_the_values_known_from_simulation(max_blocks: int, alpha: float):
    assert repeated_alpha(5, max_blocks, 0.05) == pytest.approx(alpha, rel=0.03)


def test_one_look_takes_the_whole_risk():
    assert repeated_alpha(10, 10, 0.05) == 0.05
    assert crossing_probability(10, 10, 0.05) == pytest.approx(0.05, rel=1e-9)


def test_two_looks_at_two_and_three_blocks_by_plain_integration():
    # r_2 = sin(theta) with theta uniform, so a fine grid in both angles is the whole probability.
    alpha = 0.2
    theta = (np.arange(2000) + 0.5) / 2000 * math.pi - math.pi / 2
    phi = (np.arange(4000) + 0.5) / 4000 * math.pi - math.pi / 2
    r_2 = np.sin(theta)
    r_3 = (math.sqrt(2) * r_2[:, None] * np.cos(phi) + np.sin(phi)) / math.sqrt(3)
    t_2, t_3 = r_2 / np.sqrt(1 - r_2**2), math.sqrt(2) * r_3 / np.sqrt(1 - r_3**2)
    inside_3 = np.abs(t_3) <= -special.stdtrit(2, alpha / 2)
    staying = (inside_3 * np.cos(phi)).sum(axis=1) / np.cos(phi).sum()
    wanted = 1 - (staying * (np.abs(t_2) <= -special.stdtrit(1, alpha / 2))).mean()
    assert crossing_probability(2, 3, alpha) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(
    ("min_blocks", "max_blocks", "risk"), [(5, 30, 0.05), (2, 30, 0.05), (5, 60, 0.05 / 24)]
)
def test_a_finer_grid_changes_the_risk_by_less_than_half_a_percent(
    min_blocks: int, max_blocks: int, risk: float
):
    alpha = repeated_alpha(min_blocks, max_blocks, risk)
    with finer_grid():
        finer = crossing_probability(min_blocks, max_blocks, alpha)
    assert finer == pytest.approx(risk, rel=0.005)


@pytest.mark.parametrize(
    ("min_blocks", "max_blocks", "risk"),
    [(2, 3, 0.99), (5, 12, 0.999), (2, 20, 0.4), (10, 40, 1e-3), (3, 20, 1e-6)],
)
def test_the_level_is_where_the_risk_is_the_requested_one(
    min_blocks: int, max_blocks: int, risk: float
):
    alpha = repeated_alpha(min_blocks, max_blocks, risk)
    assert crossing_probability(min_blocks, max_blocks, alpha) == pytest.approx(risk, rel=1e-5)


def test_more_looks_need_a_smaller_level():
    levels = [repeated_alpha(5, max_blocks, 0.05) for max_blocks in range(5, 20)]
    assert levels == sorted(levels, reverse=True)


@pytest.mark.parametrize(
    ("min_blocks", "max_blocks", "risk"), [(1, 5, 0.05), (6, 5, 0.05), (5, 9, 0.0), (5, 9, 1.0)]
)
def test_an_invalid_sequence_of_looks_is_refused(min_blocks: int, max_blocks: int, risk: float):
    with pytest.raises(ValueError, match=r"blocks must satisfy|risk must lie"):
        repeated_alpha(min_blocks, max_blocks, risk)


@pytest.mark.parametrize(("blocks", "growth"), [((5, 30), 0), ((5, 60), 0.2), ((10, 200), 0.3)])
def test_the_risk_is_spent_as_planned(blocks: tuple[int, int], growth: float):
    looks, risk, studies = plan_looks(*blocks, growth), 0.05, 50_000
    draw = np.random.default_rng(SEED)
    left = np.zeros((studies, 2))
    crossed, last = np.full(studies, False), 0
    for blocks_so_far, level in zip(looks, spend_in_stages((looks,), (risk,)).levels, strict=True):
        added = draw.standard_normal((studies, blocks_so_far - last))
        left += np.stack((added.sum(axis=1), (added**2).sum(axis=1)), axis=1)
        n, last = blocks_so_far, blocks_so_far
        mean = left[:, 0] / n
        t = mean / np.sqrt((left[:, 1] / n - mean**2) / (n - 1))
        crossed |= np.abs(t) > -special.stdtrit(n - 1, level / 2)
        expected = risk * spent(n / looks[-1])
        error = math.sqrt(expected * (1 - expected) / studies)
        assert abs(crossed.mean() - expected) <= 4 * error


@pytest.mark.campaign
@pytest.mark.parametrize("risk", [0.05, 0.05 / 24, 1e-4])
@pytest.mark.parametrize(("blocks", "growth"), [((5, 30), 0), ((5, 300), 1 / 32), ((3, 12), 0)])
def test_a_finer_resolution_spends_the_same_risk(
    blocks: tuple[int, int], growth: float, risk: float
):
    looks = plan_looks(*blocks, growth)
    levels = spend_in_stages((looks,), (risk,)).levels
    with finer_grid():
        finer = crossing_of_levels(looks, levels)
    assert finer == pytest.approx(risk, rel=0.01)


def test_fewer_looks_cost_less_of_the_last_level():
    rare, often = (
        spend_in_stages((plan_looks(5, 60, growth),), (0.05,)).levels for growth in (0.25, 0)
    )
    assert len(rare) < len(often)
    assert often[-1] < rare[-1] < 0.05


def test_a_single_look_spends_the_whole_risk():
    assert spend_in_stages(((12,),), (0.05,)).levels == (0.05,)
    assert (spent(0), spent(1)) == (0, 1)


def test_looks_follow_each_other_geometrically():
    assert plan_looks(5, 33) == tuple(range(5, 34))
    assert plan_looks(5, 1000)[:30] == (*range(5, 34), 35)
    assert len(plan_looks(5, 1000)) < 130
    assert plan_looks(5, 100, 0.5) == (5, 8, 12, 18, 27, 41, 62, 93, 100)


@pytest.mark.parametrize("growth", [-0.1, math.inf, math.nan])
def test_looks_that_never_end_are_refused(growth: float):
    with pytest.raises(ValueError, match="growth"):
        plan_looks(5, 30, growth)


def test_an_invalid_risk_is_not_spent():
    with pytest.raises(ValueError, match="risk must lie"):
        spend_in_stages(((5, 10),), (1.0,))
