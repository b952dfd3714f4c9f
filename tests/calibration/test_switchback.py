"""Error rates of studies of windows."""

import pytest

from tests.calibration.switchback import WindowNoise
from tests.calibration.switchback_tables import EQUAL, false_equivalence, winners
from tests.calibration.test_calibration import RISK, allowed

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("studies", [500, pytest.param(10_000, marks=pytest.mark.slow)])


@each_size
@pytest.mark.parametrize("name", list(EQUAL))
def test_equal_levels_have_no_winner(name: str, studies: int):
    wrong, unsettled = winners(EQUAL[name], studies)
    assert wrong <= allowed(RISK, studies)
    assert unsettled <= allowed(RISK, studies)


@each_size
@pytest.mark.parametrize("noise", list(WindowNoise))
def test_a_difference_of_the_margin_is_not_equivalent(noise: WindowNoise, studies: int):
    assert false_equivalence(noise, studies) <= allowed(RISK, studies)
