"""Error rates of comparisons within and across varying file systems."""

import numpy as np
import pytest

from tests.calibration import split_plot
from tests.calibration.simulation import NoiseShape, carry_out
from tests.calibration.test_calibration import (
    OPEN_ENDED,
    REACHABLE,
    RISK,
    allowed,
    each_shape,
    each_size,
)

pytestmark = pytest.mark.campaign

TIMES = 3
"""How much noisier it is to make a file system than to run a trial on it."""

each_kind = pytest.mark.parametrize("other", [split_plot.WITHIN, split_plot.ACROSS])


def figures(shape: NoiseShape, studies: int, **more: bool) -> split_plot.Array:
    return split_plot.log_figures(shape, studies, OPEN_ENDED.max_blocks, TIMES, **more)


@each_size
@each_shape
@each_kind
def test_equal_configurations_within_and_across_file_systems(
    shape: NoiseShape, other: tuple[int, int], studies: int
):
    outcomes = carry_out(split_plot.ratios(figures(shape, studies), other), OPEN_ENDED)
    assert outcomes.wrong <= allowed(RISK, studies)


@each_size
@each_kind
@pytest.mark.parametrize("difference", [0.0, 0.05])
def test_the_interval_at_the_stop_covers_the_truth(
    other: tuple[int, int], difference: float, studies: int
):
    ratios = split_plot.ratios(figures(NoiseShape.NORMAL, studies), other) + difference
    assert 1 - carry_out(ratios, REACHABLE).covering(difference) <= allowed(RISK, studies)


@pytest.mark.parametrize("studies", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
@each_shape
def test_any_wrong_winner_among_two_file_systems_with_three_configurations(
    shape: NoiseShape, studies: int
):
    rule = split_plot.FAMILY
    assert split_plot.any_wrong(figures(shape, studies), rule).mean() <= allowed(RISK, studies)


def test_the_noise_is_that_of_the_formulae():
    drawn = figures(NoiseShape.NORMAL, 2000)
    spread = [split_plot.ratios(drawn, o).var() for o in (split_plot.WITHIN, split_plot.ACROSS)]
    ratio = spread[1] / spread[0]
    # Var across = 2 (W + E), within = 2 E, and W is 9 E here.
    assert ratio == pytest.approx(1 + TIMES**2, rel=0.05)
    blocks = split_plot.ratios(drawn, split_plot.ACROSS)
    neighbours = np.corrcoef(blocks[:, :-1].ravel(), blocks[:, 1:].ravel())[0, 1]
    assert abs(neighbours) < 0.02


@each_size
def test_file_systems_that_are_made_once_decide_the_study(studies: int):
    once = figures(NoiseShape.NORMAL, studies, made_once=True)
    across = carry_out(split_plot.ratios(once, split_plot.ACROSS), OPEN_ENDED)
    within = carry_out(split_plot.ratios(once, split_plot.WITHIN), OPEN_ENDED)
    assert across.wrong > 0.5
    assert within.wrong <= allowed(RISK, studies)
