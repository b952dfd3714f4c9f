import math

import pytest
from scipy import stats

from iostudy.analysis.noise import pooled_sd, reachable_margin
from iostudy.analysis.verdict import Rule, compare

RULE = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)


def test_the_reachable_margin_of_six_percent_noise_in_thirty_blocks():
    difference = (stats.t.isf(0.0076757 / 2, 29) + stats.t.ppf(0.8, 29)) * 0.06 / math.sqrt(30)
    assert reachable_margin(0.06, RULE) == pytest.approx(math.expm1(difference), rel=1e-3)


def test_at_the_reachable_margin_all_blocks_are_needed():
    ratios = [0.1, -0.1, 0.05, -0.08, 0.02, 0.03]
    figures = [math.exp(ratio) for ratio in ratios]
    rough = compare([1.0] * 6, figures, higher_is_better=True, rule=RULE)
    margin = reachable_margin(rough.sd, RULE)
    rule = Rule(margin=margin * 1.0001, risk=0.05, min_blocks=5, max_blocks=30)
    assert compare([1.0] * 6, figures, higher_is_better=True, rule=rule).blocks_needed == 30


def test_no_noise_reaches_any_margin():
    assert reachable_margin(0.0, RULE) == 0.0


def test_pooling_weighs_by_degrees_of_freedom():
    assert pooled_sd([(0.1, 2), (0.2, 4), (math.nan, 1)]) == pytest.approx(
        math.sqrt((0.01 + 3 * 0.04) / 4)
    )


def test_nothing_to_pool():
    assert math.isnan(pooled_sd([(math.nan, 1), (math.nan, 0)]))
