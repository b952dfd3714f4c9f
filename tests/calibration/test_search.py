"""False claims and power of searches with their confirmation."""

import pytest

from tests.calibration.searched import CANDIDATES, OPTIMUM, RULES, flat, parabola, simulate
from tests.calibration.searched import response_rates as of_responses
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import RISK, allowed
from tests.calibration.verdict_tables import OPEN_ENDED, REACHABLE

pytestmark = pytest.mark.campaign

slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("shape", "searches"),
    [(NoiseShape.NORMAL, 4), *(pytest.param(shape, 100, marks=slow) for shape in NoiseShape)],
)
def test_equal_configurations_rarely_have_a_winner(shape: NoiseShape, searches: int) -> None:
    rates = simulate(shape, flat, OPEN_ENDED, RULES, searches)
    assert rates.claimed <= allowed(RISK, searches)
    # The winner's curse, for which the search itself claims nothing.
    assert rates.overstated > 0.01


@pytest.mark.parametrize("searches", [5, pytest.param(100, marks=slow)])
def test_an_optimum_is_found_and_the_race_saves_trials(searches: int) -> None:
    rates = simulate(NoiseShape.NORMAL, parabola, REACHABLE, RULES, searches)
    assert rates.gained > 0.7 * OPTIMUM
    assert rates.claimed > 0.8
    assert rates.trials < 0.8 * CANDIDATES * RULES.rungs[-1]
    assert rates.confirmed_off < rates.overstated


@slow
def test_intervals_of_response_curves_hold_the_truth_and_nothing_is_not_explained() -> None:
    searches = 100
    found = {surface: of_responses(surface, searches) for surface in (flat, parabola)}
    assert max(missed for missed, _ in found.values()) < 0.1
    assert found[flat][1] <= allowed(RISK, searches)
    assert found[parabola][1] > 0.2
