"""Effects compared with manual formulae, and Holm's procedure with its definition."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.rule import Rule
from iostudy.analysis.sequential import repeated_alpha
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.verdict import Verdict
from iostudy_search.screening.designs import main_effects, plackett_burman
from iostudy_search.screening.effects import EffectSeries, holm, screen_effects
from tests.comparisons import compare

RULE = Rule(
    margin=0.03,
    risk=0.05,
    min_blocks=5,
    max_blocks=20,
    comparisons=4,
    method=AnalysisMethod.CONSTANT_LEVEL,
)
ONE_LOOK = replace(RULE, min_blocks=10, max_blocks=10)


def series(*means: float, sd: float = 0.01, blocks: int = 10) -> list[EffectSeries]:
    """Series with exactly these means and this sd."""
    draw = np.random.default_rng(3)
    found = []
    for mean in means:
        own = draw.standard_normal(blocks)
        found.append(EffectSeries(mean + sd * (own - own.mean()) / own.std(ddof=1), True))
    return found


def test_a_clear_effect_is_found_and_small_ones_are_equivalent():
    words = [e.comparison.verdict for e in screen_effects(series(0.1, -0.1, 0.001, 0.0), RULE)]
    assert words == [Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT, Verdict.EQUIVALENT]


def test_an_effect_is_judged_as_two_configurations_are():
    (own,) = screen_effects(series(0.02), replace(RULE, comparisons=1))
    figures = np.exp(series(0.02)[0].ratios)
    pair = compare(
        [1.0] * 10, list(figures), higher_is_better=True, rule=replace(RULE, comparisons=1)
    )
    assert own.comparison.interval.low == pytest.approx(pair.interval.low)
    assert own.comparison.verdict is pair.verdict


def test_holm_finds_what_its_first_step_alone_does_not():
    # t for p = 0.02: above 0.05 / 4, below 0.05 / 2.
    t = scipy.stats.t.isf(0.01, 9)
    found = screen_effects(
        series(0.5, 0.5, t * 0.01 / np.sqrt(10), 0.0), replace(ONE_LOOK, margin=0.001)
    )
    assert [e.by_holm for e in found] == [False, False, True, False]
    assert found[2].comparison.verdict is Verdict.BETTER
    assert found[2].comparison.interval.low < 0
    assert found[2].comparison.blocks_needed is None
    assert found[2].p == pytest.approx(2 * 0.02)


def test_an_equivalent_effect_stays_equivalent_despite_a_significant_difference():
    (tiny, *_) = screen_effects(series(0.005, 0.0, 0.0, 0.0, sd=0.001), ONE_LOOK)
    assert tiny.comparison.verdict is Verdict.EQUIVALENT
    assert not tiny.by_holm
    assert tiny.p < 0.001


def test_before_the_first_look_nothing_is_said():
    found = screen_effects(series(0.5, 0.5, blocks=4), RULE)
    assert {e.comparison.verdict for e in found} == {Verdict.INCONCLUSIVE}
    assert all(np.isnan(e.p) for e in found)


def test_without_any_spread_the_answer_is_certain():
    moved, equal = screen_effects([EffectSeries(np.full(6, v), True) for v in (0.2, 0.0)], RULE)
    assert moved.comparison.verdict is Verdict.BETTER
    assert moved.p < 1e-12
    assert equal.comparison.verdict is Verdict.EQUIVALENT
    assert equal.p == 1.0


@given(single=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_textbook_procedure_where_one_look_is_all(single: list[float]):
    rule = replace(ONE_LOOK, comparisons=len(single))
    limits = [0.05 / (len(single) - step) for step in range(len(single))]
    kept = [p > limit for p, limit in zip(sorted(single), limits, strict=True)]
    number = kept.index(True) if any(kept) else len(single)
    assert sum(holm(single, rule)) == number
    assert max(
        (p for p, found in zip(single, holm(single, rule), strict=True) if found), default=0
    ) <= min((p for p, f in zip(single, holm(single, rule), strict=True) if not f), default=1)


def test_the_steps_have_the_levels_of_repeated_looks():
    levels = [repeated_alpha(5, 20, 0.05 / left) for left in (4, 3, 2, 1)]
    assert holm([0.9 * level for level in levels], RULE) == (True,) * 4
    assert holm([1.1 * levels[0], 0.9, 0.9, 0.9], RULE) == (False,) * 4
    assert holm([0.9 * levels[0], 1.1 * levels[1], 0.9, 0.9], RULE) == (True, False, False, False)


def test_the_adjusted_p_is_the_least_risk_at_which_an_effect_is_found():
    effects = series(0.006, 0.01, 0.0, 0.02)
    for index, effect in enumerate(screen_effects(effects, RULE)):
        for factor, found in ((1.02, True), (0.98, False)):
            rule = replace(RULE, risk=min(0.99, effect.p * factor))
            single = [
                2 * scipy.stats.t.sf(abs(s.ratios.mean()) * np.sqrt(10) / 0.01, 9) for s in effects
            ]
            if effect.p < 0.9:
                assert holm(single, rule)[index] is found


def test_the_error_is_that_of_replicates_and_not_of_the_model():
    # A strong interaction that the model leaves out stands in its residual, and in no interval.
    runs = plackett_burman(3, fold_over=True)
    contrasts = main_effects(runs, [2] * 3)
    draw = np.random.default_rng(1)
    noise = 0.01 * draw.standard_normal((10, len(runs)))
    together = runs[:, 0] * runs[:, 1] - 0.5 * runs[:, 0] - 0.5 * runs[:, 1]
    plain, crossed = (
        screen_effects(
            [EffectSeries((noise + b * together) @ w, True) for w in contrasts.weights], RULE
        )
        for b in (0.0, 0.5)
    )
    for one, other in zip(plain, crossed, strict=True):
        assert one.comparison.interval.low == pytest.approx(other.comparison.interval.low)
