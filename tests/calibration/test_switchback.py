"""Error rates of hundreds of blocks with slow noise."""

import pytest

from tests.calibration.switchback import SlowShape, any_winner
from tests.calibration.switchback_tables import FAMILY, RULE
from tests.calibration.test_calibration import RISK, allowed

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("studies", [2000, pytest.param(40_000, marks=pytest.mark.slow)])


@each_size
@pytest.mark.parametrize("shape", list(SlowShape))
@pytest.mark.parametrize("rule", [RULE, FAMILY], ids=["two", "four"])
def test_slow_noise_makes_no_winner(shape: SlowShape, rule, studies: int):
    assert any_winner(shape, rule, studies).mean() <= allowed(RISK, studies)
