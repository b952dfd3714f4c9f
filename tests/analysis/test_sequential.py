import math

import numpy as np
import pytest
from scipy import special
from scipy.interpolate import CubicSpline

from iostudy.analysis import sequential
from iostudy.analysis.sequential import crossing_probability, repeated_alpha

SEED = 20240611


def simulated_risk(min_blocks: int, max_blocks: int, alpha: float, studies: int) -> float:
    """The definition of a*, carried out: studies of pure noise, looked at after every block."""
    noise = np.random.default_rng(SEED).standard_normal((studies, max_blocks))
    n = np.arange(min_blocks, max_blocks + 1)
    mean = noise.cumsum(axis=1)[:, min_blocks - 1 :] / n
    squares = (noise**2).cumsum(axis=1)[:, min_blocks - 1 :]
    t = mean / np.sqrt((squares / n - mean**2) / (n - 1))
    return float((np.abs(t) > -special.stdtrit(n - 1, alpha / 2)).any(axis=1).mean())


@pytest.mark.parametrize(
    ("min_blocks", "max_blocks", "risk"),
    [(5, 10, 0.05), (5, 30, 0.05), (5, 60, 0.05), (2, 12, 0.05), (3, 20, 0.01), (5, 12, 0.4)],
)
def test_the_risk_of_ever_being_wrong_is_what_was_asked_for(
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
    finer = crossing_probability(
        min_blocks, max_blocks, alpha, grid_points=257, quadrature_points=64
    )
    assert finer == pytest.approx(risk, rel=0.005)


@pytest.mark.parametrize(
    ("min_blocks", "max_blocks", "risk"),
    [(2, 3, 0.99), (5, 12, 0.999), (2, 20, 0.4), (10, 40, 1e-3), (3, 20, 1e-6)],
)
def test_the_level_is_where_the_risk_is_what_was_asked_for(
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
def test_what_makes_no_sequence_of_looks_is_refused(min_blocks: int, max_blocks: int, risk: float):
    with pytest.raises(ValueError, match=r"blocks must satisfy|risk must lie"):
        repeated_alpha(min_blocks, max_blocks, risk)


def test_the_spline_is_scipys() -> None:
    x = np.linspace(0.0, 1.7, 129)
    y = np.exp(-(x**2)) + 0.1 * np.cos(3 * x)
    peer = CubicSpline(x, y, bc_type=("clamped", "not-a-knot"))
    points = np.linspace(0.0, 1.7, 1000)
    made = sequential._even_spline(1.7, y)
    assert made(points) == pytest.approx(peer(points), abs=1e-13)
