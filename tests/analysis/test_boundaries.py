import numpy as np
import pytest

from iostudy.analysis.boundaries import AnalysisMethod, build_boundaries
from iostudy.analysis.paired import t_bounds
from iostudy.analysis.sequential import repeated_alpha

SPENDING = build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 100, 0.05)


def test_a_level_holds_until_the_next_analysis() -> None:
    assert SPENDING.looks[:2] == (5, 6)
    assert SPENDING.looks[-3:] == (95, 98, 100)
    levels = SPENDING.difference_level([2, 5, 6, 95, 97, 100, 500])
    own = SPENDING.difference
    assert list(levels) == [own[0], own[0], own[1], own[-3], own[-3], own[-1], own[-1]]
    last = [SPENDING.last_look(blocks) for blocks in (0, 4, 5, 6, 97, 99, 100)]
    assert last == [0, 4, 5, 6, 95, 98, 100]


@pytest.mark.campaign
@pytest.mark.parametrize("risk", [0.2, 0.05, 0.05 / 24])
@pytest.mark.parametrize("blocks", [(5, 30), (3, 12), (10, 10), (5, 200)])
def test_the_interval_of_equivalence_is_never_the_wider_one(
    blocks: tuple[int, int], risk: float
) -> None:
    own = build_boundaries(AnalysisMethod.ERROR_SPENDING, *blocks, risk)
    assert (own.equivalence >= own.difference).all()
    assert own.equivalence[-1] <= 2 * risk


def test_the_earlier_method_has_one_level_for_all() -> None:
    own = build_boundaries(AnalysisMethod.CONSTANT_LEVEL, 5, 40, 0.05)
    assert own.looks == tuple(range(5, 41))
    assert set(own.difference) == set(own.equivalence) == {repeated_alpha(5, 40, 0.05)}


def test_half_of_two_sided_is_one_sided() -> None:
    """A one-sided boundary is crossed as often as half of both: hardly any study crosses both."""
    own = build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 30, 0.05)
    draw = np.random.default_rng(20240611).standard_normal((100_000, 30))
    n = np.array(own.looks)
    mean = draw.cumsum(axis=1)[:, n - 1] / n
    sd = np.sqrt(((draw**2).cumsum(axis=1)[:, n - 1] / n - mean**2) * n / (n - 1))
    low, high = t_bounds(mean, sd, n, own.equivalence)
    above, below = (low > 0).any(axis=1), (high < 0).any(axis=1)
    error = 3 * np.sqrt(0.05 * 0.95 / len(draw))
    assert above.mean() == pytest.approx(0.05, abs=error)
    assert (above & below).mean() < 0.0005
