import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from iostudy.analysis.noise import (
    CONFIDENCE,
    estimate_power,
    minimum_detectable_effect,
    pool_noise,
)
from iostudy.analysis.rule import Rule
from tests.comparisons import compare

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)


def test_the_reachable_margin_of_six_percent_noise_in_thirty_blocks():
    level = RULE.boundaries.difference[-1]
    assert level == pytest.approx(0.03515, rel=1e-3)
    difference = (
        (scipy.stats.t.isf(level / 2, 29) + scipy.stats.t.ppf(0.8, 29)) * 0.06 / math.sqrt(30)
    )
    assert minimum_detectable_effect(0.06, RULE) == pytest.approx(math.expm1(difference), rel=1e-3)


def test_at_the_reachable_margin_all_blocks_are_needed():
    ratios = [0.1, -0.1, 0.05, -0.08, 0.02, 0.03]
    figures = [math.exp(ratio) for ratio in ratios]
    rough = compare([1.0] * 6, figures, higher_is_better=True, rule=RULE)
    margin = minimum_detectable_effect(rough.sd, RULE)
    rule = Rule(margin=margin * 1.0001, risk=0.05, min_blocks=5, max_blocks=30)
    assert compare([1.0] * 6, figures, higher_is_better=True, rule=rule).blocks_needed == 30


def test_no_noise_reaches_any_margin():
    assert minimum_detectable_effect(0.0, RULE) == 0.0


def test_pooling_weighs_by_degrees_of_freedom():
    pooled = pool_noise([(0.1, 2), (0.2, 4), (math.nan, 1)])
    assert pooled.sd == pytest.approx(math.sqrt((0.01 + 3 * 0.04) / 4))


def test_nothing_to_pool():
    assert pool_noise([(math.nan, 1), (math.nan, 0)]) is None


def test_the_interval_of_one_comparison_is_that_of_a_variance_by_chi_square():
    found = pool_noise([(0.06, 10)])
    low, high = (0.06 * math.sqrt(9 / scipy.stats.chi2.ppf(area, 9)) for area in (0.975, 0.025))
    assert (found.low, found.sd, found.high) == pytest.approx((low, 0.06, high))


@pytest.mark.parametrize("comparisons", [1, 3, 7])
def test_the_interval_holds_the_noise_also_where_comparisons_share_their_baseline(comparisons):
    draw = np.random.default_rng(3)
    studies, blocks, noise = 4000, 6, 0.05
    logs = draw.normal(0, noise, (studies, blocks, comparisons + 1))
    sds = np.std(logs[:, :, 1:] - logs[:, :, :1], axis=1, ddof=1)
    found = [pool_noise([(float(sd), blocks) for sd in own]) for own in sds]
    held = sum(each.low <= noise * math.sqrt(2) <= each.high for each in found) / studies
    assert held == pytest.approx(CONFIDENCE, abs=4 * math.sqrt(0.05 * 0.95 / studies))


def test_the_power_estimate_has_the_detectable_effect_and_the_blocks_for_the_margin():
    fine, coarse = (estimate_power(pool_noise([(sd, 10)]), RULE) for sd in (0.01, 0.06))
    assert fine.is_margin_detectable and not coarse.is_margin_detectable
    assert RULE.min_blocks <= fine.blocks <= RULE.max_blocks < coarse.blocks
    for each in (fine, coarse):
        assert each.detectable_effect_low < each.detectable_effect < each.detectable_effect_high
        assert each.blocks_low <= each.blocks <= each.blocks_high
    assert RULE.detectable_difference(coarse.blocks) * 0.06 <= RULE.delta
    assert RULE.detectable_difference(coarse.blocks - 1) * 0.06 > RULE.delta


def test_the_detectable_effect_includes_the_bias():
    biased = replace(RULE, bias=0.01)
    assert math.log1p(minimum_detectable_effect(0.02, biased)) == pytest.approx(
        math.log1p(minimum_detectable_effect(0.02, RULE)) + 0.01
    )
    blocks = biased.required_blocks(0.02)
    assert minimum_detectable_effect(0.02, replace(biased, max_blocks=blocks)) <= RULE.margin
