"""Causes of noise: the rate of names by chance, of the true one, and of another one."""

import pytest

from tests.calibration.noise_cause_tables import found, named_by_chance
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import allowed
from tests.results.synthetic_noise import SITUATIONS, find_causes

pytestmark = pytest.mark.campaign

LEVEL = 0.05
AUTOCORRELATED = 0.08
"""The level of series with phi 0.9, which a reversal within blocks of four cannot keep exactly."""

each_size = pytest.mark.parametrize("studies", [60, pytest.param(1000, marks=pytest.mark.slow)])


@each_size
@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("shape", [NoiseShape.NORMAL, NoiseShape.SPIKES, NoiseShape.AR1])
def test_chance_names_no_more_causes_than_its_level(shape: NoiseShape, labels: int, studies: int):
    level = AUTOCORRELATED if shape is NoiseShape.AR1 else LEVEL
    assert named_by_chance(shape, 10, labels, studies) <= allowed(level, studies)


@each_size
def test_a_large_share_is_named_and_its_interval_holds_it(studies: int):
    named, mean, holds, others = found(0.9, 10, 4, studies)
    assert named > 0.95
    assert 0.85 < mean < 0.95
    assert 1 - holds <= allowed(LEVEL, round(named * studies))
    assert others <= allowed(LEVEL, studies)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__)
def test_no_cause_is_taken_for_another(situation):
    expected, repetitions = SITUATIONS[situation], 100
    found = [find_causes(situation, seed) for seed in range(repetitions)]
    assert sum(next(iter(own), None) is expected for own in found) >= 0.9 * repetitions
    others = sum(any(cause is not expected for cause in own) for own in found)
    assert others / repetitions <= allowed(LEVEL, repetitions)
