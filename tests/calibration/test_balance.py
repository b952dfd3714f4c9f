"""Covariate imbalance: the rate of false flags."""

import pytest

from tests.calibration.balance_tables import MORE, SHARED, flagged
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import allowed

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("studies", [200, pytest.param(4000, marks=pytest.mark.slow)])


@each_size
@pytest.mark.parametrize("shape", [NoiseShape.NORMAL, NoiseShape.SPIKES, NoiseShape.AR1])
def test_a_covariate_independent_of_configurations_is_within_its_level(
    shape: NoiseShape, studies: int
):
    found = flagged(shape, blocks=10, more=0.0, studies=studies)
    assert found <= allowed(SHARED.level, studies)


def test_slow_disturbances_do_not_hide_an_imbalance():
    assert flagged(NoiseShape.AR1, blocks=20, more=MORE, studies=40) > 0.9
