"""Confirmations of windows that were selected because they showed a difference."""

import pytest

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from tests.calibration.confirmation_tables import MARGIN, confirm
from tests.calibration.test_calibration import RISK, allowed

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("size", [50, pytest.param(1000, marks=pytest.mark.slow)])


@each_size
@pytest.mark.parametrize("sd", [0.01, 0.05])
def test_equal_differences_seldom_disagree(sd: float, size: int):
    found = confirm(0.0, sd, size)
    assert found.count(ConfirmationOutcome.DISAGREE) / len(found) <= allowed(RISK, len(found))


@each_size
def test_a_difference_of_four_margins_disagrees(size: int):
    found = confirm(4 * MARGIN, 0.05, size)
    assert found.count(ConfirmationOutcome.DISAGREE) / len(found) > 0.9
