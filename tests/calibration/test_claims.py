"""The rates of "Corrected claims" in docs/method/calibration.md, fast and long."""

import pytest

from iostudy.analysis.verdict import Verdict
from tests.calibration import claims
from tests.calibration.simulation import standard_error

RISK = claims.RULE.risk

each_size = pytest.mark.parametrize("studies", [400, pytest.param(4000, marks=pytest.mark.slow)])


def allowed(studies: int) -> float:
    return RISK + 3 * standard_error(RISK, studies)


@each_size
@pytest.mark.parametrize("share", [0.05, 0.10])
def test_rare_slow_runs_are_bounded_and_may_forbid_equivalence(share: float, studies: int):
    earlier, now, strict, too_low = claims.slow_runs(share, studies)
    assert earlier > 0.05
    assert now > earlier, "the typical run is equal"
    assert strict <= allowed(studies)
    assert too_low <= allowed(studies)


@each_size
def test_a_slower_first_run_makes_no_winner(studies: int):
    assert claims.first_run_slower(4, studies, waits=False) > 0.1
    assert claims.first_run_slower(4, studies, waits=True) <= allowed(studies)


@each_size
@pytest.mark.parametrize("noise", [0.15, 0.25])
def test_a_loss_on_one_workload_is_not_recommended(noise: float, studies: int):
    worse_in_none, goal = claims.recommended(noise, 0.10, studies)
    assert worse_in_none > 0.1
    assert goal <= allowed(studies)


@each_size
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_of_several_figures_one_false_part_makes_the_claim_false(correlation: float, studies: int):
    """The parts do not share the risk: the other one is true beyond doubt."""
    _, no_gain = claims.several_figures(correlation, 0.0, 0.5, studies)
    gain, harm = claims.several_figures(correlation, 0.5, -claims.RULE.delta, studies)
    assert no_gain <= allowed(studies)
    assert harm <= allowed(studies)
    assert gain > 0.99, "the first figure alone recommends the harm"


@each_size
def test_failing_stalls_make_no_winner(studies: int):
    repeated, ranked = claims.failing_stalls(studies)
    assert repeated > 0.1
    assert ranked <= allowed(studies)


@each_size
def test_one_sided_words_at_the_margin_are_no_more_often_wrong_than_the_risk(studies: int):
    assert claims.false_words(studies) <= allowed(studies)
    ended = claims.words_of_six(0.0, studies)
    harmless = ended.share(Verdict.NOT_WORSE, Verdict.EQUIVALENT, Verdict.BETTER)
    assert harmless > 0.4


@pytest.mark.parametrize("studies", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_scores_spend_the_risk_that_t_spends(studies: int):
    by_t, by_scores = claims.ever_wrong((5, 30), RISK, studies)
    assert by_scores == pytest.approx(by_t, rel=0.1)
    assert by_scores <= allowed(studies)


@each_size
def test_differences_of_two_days_are_compared_by_their_baselines(studies: int):
    raw, effects = claims.between_days(0.05, studies)
    assert raw > 0.3
    assert effects <= allowed(studies)
