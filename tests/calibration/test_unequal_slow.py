"""Two configurations that feel the slow noise of a machine unequally."""

import pytest

from tests.calibration.test_calibration import RISK, allowed
from tests.calibration.unequal_slow import find_winners_by_feeling
from tests.calibration.unequal_slow_tables import TRIALS

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("studies", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_sessions_remove_the_winners_of_slow_noise_that_is_felt_unequally(studies: int):
    found = find_winners_by_feeling(1.2, TRIALS, studies, sessions=6, most=60)
    assert found.study > 3 * RISK
    assert found.flagged > 0.7
    assert found.ratio == pytest.approx(1.2, abs=0.1)
    assert found.sessions <= allowed(RISK, studies)
