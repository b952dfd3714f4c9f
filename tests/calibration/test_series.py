"""Flags: the rate of false flags and the power."""

import pytest

from iostudy.analysis.series import LEVEL, Flag
from tests.calibration.flagged import flagged, unequal_variance_marks
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import allowed

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("studies", [300, pytest.param(4000, marks=pytest.mark.slow)])


@each_size
def test_clean_noise_is_flagged_no_more_often_than_the_level(studies: int):
    assert flagged(NoiseShape.NORMAL, studies).any <= allowed(LEVEL, studies)


@each_size
@pytest.mark.parametrize(
    ("shape", "flag", "share"),
    [(NoiseShape.AR1, Flag.AUTOCORRELATION, 0.93), (NoiseShape.DRIFT, Flag.DRIFT, 0.36)],
)
def test_violations_of_the_assumptions_are_found(
    shape: NoiseShape, flag: Flag, share: float, studies: int
):
    assert flagged(shape, studies).share(flag) >= share


@each_size
def test_slow_noise_of_the_machine_is_none_of_the_differences(studies: int):
    for shape in (NoiseShape.AR1, NoiseShape.DRIFT):
        found = flagged(shape, studies)
        own = found.share(Flag.DRIFTING_DIFFERENCE) + found.share(Flag.AUTOCORRELATED_DIFFERENCES)
        assert own <= allowed(LEVEL / 3, studies)


@pytest.mark.parametrize("shape", [NoiseShape.SPIKES, NoiseShape.LOG_NORMAL])
def test_a_silent_side_is_always_marked(shape: NoiseShape):
    found = unequal_variance_marks(shape, 0.0, 2000, 50)
    assert found.wrong > 0.1
    assert found.wrong_marked == 1
