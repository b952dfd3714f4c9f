from functools import partial

import numpy as np
import pytest
from scipy import special

from iostudy.analysis.boundaries import build_boundaries, predictive_probability
from iostudy.analysis.spending import AnalysisMethod

planned_boundaries = partial(build_boundaries, AnalysisMethod.ERROR_SPENDING, 5, 30, 0.05)
DELTA = 0.03


@pytest.mark.parametrize("mean", [0.0, 0.01, -0.03, 0.08])
@pytest.mark.parametrize(("sd", "count"), [(0.05, 8), (0.12, 15), (0.3, 25)])
def test_the_probability_is_that_of_drawn_means(mean: float, sd: float, count: int) -> None:
    spread = sd * np.sqrt(1 / count - 1 / 30)
    draws = mean + spread * np.random.default_rng(1).standard_t(count - 1, 200_000)
    boundaries = planned_boundaries()
    levels = np.array([boundaries.difference[-1], boundaries.equivalence[-1]])
    different, equivalent = -special.stdtrit(29, levels / 2) * sd / np.sqrt(30)
    decided = (np.abs(draws) > different) | (np.abs(draws) < DELTA - equivalent)
    found = predictive_probability(mean, sd, count, boundaries, DELTA)
    assert found == pytest.approx(decided.mean(), abs=0.005)


def test_a_wide_margin_or_a_large_difference_is_certain() -> None:
    assert predictive_probability(0.0, 0.1, 10, planned_boundaries(), 10.0) == pytest.approx(
        1.0, abs=1e-6
    )
    assert predictive_probability(3.0, 0.1, 10, planned_boundaries(), DELTA) == pytest.approx(
        1.0, abs=1e-6
    )


def test_a_probability_is_elementwise_and_falls_as_blocks_are_spent() -> None:
    found = predictive_probability(0.0, [0.3] * 3, [10, 20, 29], planned_boundaries(), DELTA)
    assert found.shape == (3,)
    assert found[0] > found[1] > found[2]
    assert found[2] < 0.001
