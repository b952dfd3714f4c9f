import math

import numpy as np
import pytest
from scipy import special
from scipy.interpolate import CubicSpline

from iostudy.analysis.t_chain import StayedInside, spline_weights
from tests.analysis.finer_grid import finer_grid

SEED = 20240611


def test_weights_of_a_spline_are_those_of_scipys() -> None:
    grid, points = np.linspace(0.0, 1.7, 129), np.linspace(0.0, 1.7, 1000)
    f = np.exp(-(grid**2)) + 0.1 * np.cos(3 * grid)
    mass = np.random.default_rng(SEED).random(1000)
    peer = CubicSpline(grid, f, bc_type=("clamped", "not-a-knot"))
    own = spline_weights(1.7, points, mass, 129)
    assert own @ f == pytest.approx(mass @ peer(points), rel=1e-12)


@pytest.mark.parametrize("blocks", [2, 5, 40])
def test_the_first_analysis_is_a_t_test(blocks: int) -> None:
    assert StayedInside.first(blocks, 0.03).probability == pytest.approx(0.97, rel=1e-6)


@pytest.mark.parametrize(("first", "second"), [(5, 6), (5, 7), (5, 9), (20, 60), (100, 130)])
def test_two_analyses_are_those_of_simulated_studies(first: int, second: int) -> None:
    studies, level = 200_000, 0.1
    draw = np.random.default_rng(SEED)
    sums, squares = np.zeros(studies), np.zeros(studies)
    inside = []
    for blocks, added in ((first, first), (second, second - first)):
        u = draw.standard_normal(studies)
        sums += math.sqrt(added) * u
        squares += u**2 + (draw.chisquare(added - 1, studies) if added > 1 else 0)
        t = sums / np.sqrt((blocks * squares - sums**2) / (blocks - 1))
        inside.append(np.abs(t) < -special.stdtrit(blocks - 1, level / 2))
    stayed, left = inside[0] & inside[1], inside[0] & ~inside[1]
    begun = StayedInside.first(first, level)
    error = 3 * math.sqrt(0.1 * 0.9 / studies)
    assert begun.leaving(second, level) == pytest.approx(left.mean(), abs=error)
    assert begun.after(second, level).probability == pytest.approx(stayed.mean(), abs=error)


@pytest.mark.parametrize("blocks", [(5, 6, 7), (4, 9, 40), (50, 51, 80)])
def test_the_probabilities_of_stopping_and_continuing_sum_to_one(
    blocks: tuple[int, int, int],
) -> None:
    with finer_grid():
        inside = StayedInside.first(blocks[0], 0.01)
        for number in blocks[1:]:
            before = inside.probability
            left = inside.leaving(number, 0.02)
            inside = inside.after(number, 0.02)
            assert inside.probability + left == pytest.approx(before, rel=1e-5)


def test_the_first_analysis_has_the_whole_level() -> None:
    # A first boundary that hardly anything exceeds leaves the second analysis alone.
    inside = StayedInside.first(10, 1e-9)
    assert inside.leaving(14, 0.05) == pytest.approx(0.05, rel=1e-3)
