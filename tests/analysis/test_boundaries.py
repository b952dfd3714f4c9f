import numpy as np
import pytest

from iostudy.analysis.boundaries import build_boundaries
from iostudy.analysis.paired import t_bounds
from iostudy.analysis.rule import Rule
from iostudy.analysis.sequential import crossing_of_levels, repeated_alpha
from iostudy.analysis.spending import CONTINUABLE, AnalysisMethod


def test_a_level_holds_until_the_next_analysis() -> None:
    spending = build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 100, 0.05)
    assert spending.looks[:2] == (5, 6)
    assert spending.looks[-3:] == (95, 98, 100)
    levels = [spending.level(n, equivalence=False) for n in (2, 5, 6, 95, 97, 100, 500)]
    own = spending.difference
    assert levels == [own[0], own[0], own[1], own[-3], own[-3], own[-1], own[-1]]
    rule = Rule(0.03, 0.05, 5, 100, method=AnalysisMethod.ERROR_SPENDING)
    last = [rule.last_look(blocks) for blocks in (0, 4, 5, 6, 97, 99, 100)]
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


@pytest.mark.parametrize("risk", [0.05, 0.05 / 6])
def test_stages_spend_their_part_of_the_risk_along_one_path(risk):
    for stage, spent_so_far in enumerate(CONTINUABLE.risks(risk)):
        own = build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 12, risk, CONTINUABLE, stage)
        assert own.looks[-1] == 12 * 2**stage
        assert crossing_of_levels(own.looks, own.difference) == pytest.approx(
            spent_so_far, rel=0.01
        )
    assert spent_so_far < risk


def test_a_plan_with_a_reserve_is_a_plan_of_less_risk():
    kept = build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 30, 0.05, CONTINUABLE)
    less = build_boundaries(AnalysisMethod.ERROR_SPENDING, 5, 30, 0.05 * 0.85)
    assert kept.difference == pytest.approx(less.difference)
    assert kept.equivalence == pytest.approx(less.equivalence)


def test_the_spent_risk_grows_with_every_block_to_the_end_of_the_last_stage():
    spent_risks = [CONTINUABLE.risk_spent(blocks, 10, 0.05) for blocks in range(1, 81)]
    assert spent_risks == sorted(spent_risks)
    assert spent_risks[9] == pytest.approx(0.85 * 0.05)
    assert spent_risks[-1] == pytest.approx(0.05 * (1 - 0.15**4))
    assert [CONTINUABLE.find_stage(n, 10) for n in (1, 10, 11, 20, 21, 80, 99)] == [
        *(0, 0, 1, 1, 2, 3, 3)
    ]
