"""Error rates of screenings. The fast size always runs, the long one by its marker."""

from dataclasses import replace

import numpy as np
import pytest

from iostudy.analysis.verdict import Verdict
from iostudy_search.screening.effects import EffectSeries, screen_effects
from tests.calibration import screened
from tests.calibration.screened import ALONE, FACTORS, FOLDED, RULE, carry_out, estimates
from tests.calibration.screening_tables import ALL, OTHERS, three_matter
from tests.calibration.simulation import NoiseShape, standard_error

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("studies", [300, pytest.param(5000, marks=pytest.mark.slow)])
each_shape = pytest.mark.parametrize("shape", list(NoiseShape))
each_plot = pytest.mark.parametrize("whole_plot", [None, 3])


def allowed(studies: int, rate: float = RULE.risk) -> float:
    return rate + 3 * standard_error(rate, studies)


def figures(shape: NoiseShape, studies: int, whole_plot: float | None = None, runs=FOLDED):
    return screened.log_figures(shape, runs, studies, RULE.max_blocks, whole_plot=whole_plot)


@each_size
@each_shape
@each_plot
def test_factors_that_do_nothing_are_found_no_more_often_than_the_risk(
    shape: NoiseShape, studies: int, whole_plot: float | None
):
    drawn = figures(shape, studies, whole_plot)
    none = carry_out(estimates(drawn, FOLDED), RULE)
    assert none.any_difference(ALL) <= allowed(studies)
    assert none.any_missed(np.zeros(FACTORS)) <= allowed(studies)
    assert carry_out(three_matter(drawn), RULE).any_difference(OTHERS) <= allowed(studies)


@each_size
def test_an_effect_of_the_margin_is_called_equivalent_no_more_often_than_the_risk(
    studies: int,
):
    rule = replace(RULE, margin=0.02)
    outcome = carry_out(estimates(figures(NoiseShape.NORMAL, studies), FOLDED) + rule.delta, rule)
    wrong = (outcome.words == str(Verdict.EQUIVALENT)).any(axis=1).mean()
    assert wrong <= allowed(studies)


@each_size
def test_the_steps_of_holm_find_more_than_the_first_of_them(studies: int):
    outcome = carry_out(three_matter(figures(NoiseShape.NORMAL, studies), 0.018), RULE)
    ended = {
        name: np.isin(words[:, :3], [str(Verdict.BETTER), str(Verdict.WORSE)]).mean()
        for name, words in (("steps", outcome.words), ("first", outcome.by_interval))
    }
    assert ended["steps"] > ended["first"]


@each_size
def test_an_interaction_passes_for_an_effect_unless_the_design_is_folded_over(studies: int):
    found = {}
    for name, runs in (("alone", ALONE), ("folded", FOLDED)):
        crossed = figures(NoiseShape.NORMAL, studies, runs=runs) + 0.1 * screened.together(
            runs, 0, 1
        )
        found[name] = carry_out(estimates(crossed, runs), RULE).any_difference(ALL)
    assert found["alone"] > 0.9
    assert found["folded"] <= allowed(studies)


def test_one_run_of_each_and_the_residual_mislead_where_file_systems_vary():
    (single,) = np.moveaxis(figures(NoiseShape.NORMAL, 2000, 3)[:, :1], 1, 0)
    claimed = screened.by_model_residual(single, FOLDED, RULE.risk)
    assert claimed[:, 0].mean() > 0.5


def test_the_simulation_decides_as_the_code_does():
    drawn = three_matter(0.5 * figures(NoiseShape.T3, 12)) * 0.3
    outcome = carry_out(drawn, RULE)
    assert len(set(outcome.words.ravel())) > 1
    for index, blocks in enumerate(outcome.blocks):
        screened_effects = screen_effects(
            [EffectSeries(own[:blocks], True) for own in drawn[index].T], RULE
        )
        assert [str(effect.comparison.verdict) for effect in screened_effects] == list(
            outcome.words[index]
        )
        assert screened_effects[0].comparison.interval.low == pytest.approx(outcome.low[index, 0])
