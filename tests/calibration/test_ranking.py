"""Error rates of rankings after studies that stopped at their verdicts."""

import numpy as np
import pytest

from iostudy.analysis.rule import Rule
from tests.calibration.ranked import STAIRCASE, Design, places_change, simulate, simulate_gate
from tests.calibration.ranking_tables import GATES
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import RISK, allowed, each_shape
from tests.calibration.verdict_tables import REACHABLE

pytestmark = pytest.mark.campaign

RULE = Rule(margin=0.005, risk=RISK, min_blocks=5, max_blocks=30)
"""So small a margin that nothing ends as equivalent: verdicts stop studies where chance helps."""

each_size = pytest.mark.parametrize("studies", [40, pytest.param(2000, marks=pytest.mark.slow)])
each_number = pytest.mark.parametrize("workloads", [1, 2, pytest.param(9, marks=pytest.mark.slow)])


@each_size
@each_shape
@each_number
def test_equal_configurations_are_hardly_ever_ranked(
    shape: NoiseShape, workloads: int, studies: int
):
    rates = simulate(shape, Design.uniform([0.0] * 4, workloads, RULE), studies)
    assert rates.wrong <= allowed(RISK, studies)
    assert rates.uncovered <= allowed(RISK, studies)


@each_size
@each_shape
@each_number
def test_rank_sets_cover_a_staircase_with_ties(shape: NoiseShape, workloads: int, studies: int):
    rates = simulate(shape, Design.uniform(STAIRCASE, workloads, RULE), studies)
    assert rates.uncovered <= allowed(RISK, studies)
    assert rates.wrong <= allowed(RISK, studies)
    assert rates.missed <= allowed(RISK, studies)


@each_size
@pytest.mark.parametrize("step", [0.06, 0.08])
def test_many_workloads_that_all_stop_early(step: float, studies: int):
    # Each stops where chance helps, all in the same direction: the hardest case for the size of
    # the combined difference. See "Limitations" in docs/method.md.
    workloads = 9 if studies < 1000 else 20
    rates = simulate(NoiseShape.NORMAL, Design.uniform([0.0, step], workloads, RULE), studies)
    assert rates.missed <= allowed(RISK, studies)
    assert rates.wrong == 0


def test_places_that_change_are_found_and_none_are_made_up():
    opposed = Design(np.array([[0.0, 0.15, 0.02], [0.0, -0.15, 0.02]]), RULE)
    assert places_change(opposed, 50) > 0.9
    unlike = Design(np.array([[0.0, 0.15, 0.02], [0.0, 0.0, 0.0]]), RULE)
    assert places_change(unlike, 50) <= allowed(RISK, 50)


@each_size
@pytest.mark.parametrize("effects", GATES.values(), ids=GATES)
def test_ranks_are_wrong_at_most_at_the_risk_and_words_at_one_and_a_half(effects, studies: int):
    ranks, words = simulate_gate(Design.uniform(effects, 2, REACHABLE), studies)
    assert ranks <= allowed(RISK, studies)
    assert words <= allowed(1.5 * RISK, studies)
