"""Blocks to a verdict and the rate of right verdicts."""

import math

import numpy as np
import pytest

from iostudy.analysis.verdict import Verdict
from tests.calibration.blocks_tables import FIXED, OF_A_PAIR, RULE, ratios, right
from tests.calibration.simulation import NoiseShape, carry_out, pairs, standard_error
from tests.calibration.test_calibration import each_shape, each_size

pytestmark = pytest.mark.campaign

MIRRORED = {
    Verdict.NOT_WORSE: Verdict.NOT_BETTER,
    Verdict.NOT_BETTER: Verdict.NOT_WORSE,
    Verdict.BETTER: Verdict.WORSE,
    Verdict.WORSE: Verdict.BETTER,
    Verdict.EQUIVALENT: Verdict.EQUIVALENT,
    Verdict.INCONCLUSIVE: Verdict.INCONCLUSIVE,
}


@each_size
def test_five_percent_at_a_noise_of_six_is_known_in_two_thirds_of_the_blocks(studies: int):
    drawn = ratios(OF_A_PAIR["a pair"], 0.05, studies)
    outcomes = carry_out(drawn, RULE)
    assert outcomes.blocks.mean() <= 18
    assert right(outcomes, 0.05) >= 0.98
    assert right(carry_out(drawn, FIXED), 0.05) - right(outcomes, 0.05) < 0.01


@each_size
def test_most_effects_are_found_with_insufficient_blocks(studies: int):
    drawn = ratios(OF_A_PAIR["a trial"], 0.05, studies)
    assert right(carry_out(drawn, FIXED), 0.05) < 0.9
    assert right(carry_out(drawn, RULE), 0.05) > 0.81


@each_size
@pytest.mark.parametrize(
    ("pair", "difference", "target"),
    [("a pair", 0.0, 0.60), ("a pair", 0.03, 0.70), ("a trial", 0.05, 0.83)],
)
def test_most_of_the_power_of_one_look_is_kept(
    pair: str, difference: float, target: float, studies: int
):
    found = right(carry_out(ratios(OF_A_PAIR[pair], difference, studies), RULE), difference)
    assert found >= target - (0 if studies > 10_000 else 3 * standard_error(target, studies))


def test_the_definition_of_a_correct_decision():
    outcomes = carry_out(np.full((1, 30), math.log1p(0.01)) + 1e-6 * np.arange(30), RULE)
    assert outcomes.share(Verdict.EQUIVALENT) == 1
    assert [right(outcomes, true) for true in (0.0, 0.01, 0.03)] == [1, 1, 0]


@each_shape
def test_swapping_the_configurations_mirrors_every_study(shape: NoiseShape):
    drawn = pairs(shape, RULE, 500, difference=0.03)
    one, other = carry_out(drawn, RULE), carry_out(-drawn, RULE)
    assert [MIRRORED[Verdict(str(word))] for word in one.verdicts] == list(other.verdicts)
    assert (one.blocks == other.blocks).all()
    assert (one.low == -other.high).all()
