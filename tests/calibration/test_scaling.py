"""Error rates of scaling curves, knees and crossings after studies that stopped early."""

from dataclasses import replace

import numpy as np
import pytest

from iostudy.analysis.rule import Rule
from tests.calibration.scaled import EQUAL, OVERTAKING, TOUCHING, CurveModel, simulate
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import RISK, allowed, each_shape

pytestmark = pytest.mark.campaign

RULE = Rule(margin=0.05, risk=RISK, min_blocks=5, max_blocks=30)

each_size = pytest.mark.parametrize("studies", [50, pytest.param(1000, marks=pytest.mark.slow)])


@each_size
@each_shape
def test_intervals_and_knees_hold_and_curves_that_touch_do_not_cross(
    shape: NoiseShape, studies: int
):
    rates = simulate(shape, CurveModel.at_the_margin(TOUCHING, RULE), studies)
    if shape is not NoiseShape.LOG_NORMAL:  # a value has no partner; see docs/method/curves.md
        assert rates.values <= allowed(RISK, studies)
    assert rates.gains <= allowed(RISK, studies)
    assert rates.knees <= allowed(RISK, studies)
    assert rates.made_up <= allowed(RISK, studies)


@each_size
@each_shape
def test_a_crossing_is_found_where_it_is(shape: NoiseShape, studies: int):
    rates = simulate(shape, CurveModel.at_the_margin(OVERTAKING, RULE), studies)
    assert rates.found > (0.2 if shape is NoiseShape.SPIKES else 0.9)
    assert rates.missed <= allowed(RISK, studies)
    assert rates.made_up <= allowed(RISK, studies)


@each_size
def test_a_knee_is_found_where_noise_allows_it(studies: int):
    rule = replace(RULE, min_blocks=15)  # comparisons that end early leave a knee few rounds
    quiet, loud = (
        simulate(NoiseShape.NORMAL, CurveModel(EQUAL, rule, last_gain=0.0, noise=noise), studies)
        for noise in (0.01, 0.06)
    )
    assert quiet.single_knee > 0.9 > loud.single_knee


def test_the_scenes_are_what_they_are_called():
    assert not np.diff(EQUAL, axis=1).any()
    assert (TOUCHING[:, 1] >= 0).all()
    assert OVERTAKING[0, 1] < 0 < OVERTAKING[-1, 1]
