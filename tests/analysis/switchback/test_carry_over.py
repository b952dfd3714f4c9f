import math

import numpy as np
import pytest

from iostudy.analysis.switchback.carry_over import (
    MIN_ROUNDS,
    Rounds,
    measure_drift,
    measure_position,
    measure_previous,
    measure_residence,
)
from tests.analysis.switchback.rounds import Effects, simulate

LEVEL, RELEVANT = 0.05, math.log1p(0.05) / 4
FOUR, TWO = Effects((0.0, 0.1, -0.2, 0.05)), Effects((0.0, 0.1))


def lagged_drift(rounds: Rounds):
    found = measure_drift(rounds, [0.0, *([1.0] * (rounds.logs.shape[1] - 1))])
    return found and found.bias


MEASURES = (measure_position, measure_previous, measure_residence, lagged_drift)


@pytest.mark.campaign
@pytest.mark.parametrize("phi", [0.0, 0.9, 0.99, 1.0])
@pytest.mark.parametrize(("effects", "rounds"), [(TWO, 20), (FOUR, 20), (FOUR, 60)])
def test_rates_without_an_effect(effects, rounds, phi):
    """300 studies a figure: at most 5 % + 3 se = 8.8 %; 4,000 studies gave 3 to 6 % each."""
    draw, studies = np.random.default_rng(5), 300
    hits = np.zeros(len(MEASURES))
    for _ in range(studies):
        own = simulate(draw, rounds, effects, phi=phi)
        hits += [found is not None and found.p < LEVEL for found in (m(own) for m in MEASURES)]
    assert (hits / studies <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / studies)).all()


@pytest.mark.parametrize("effects", [TWO, FOUR])
def test_intervals_cover_an_effect_of_the_previous_configuration(effects):
    """Two configurations differ by 0.06; the group is compared with the mean of the others."""
    draw, studies, covered = np.random.default_rng(6), 300, 0
    count = len(effects.levels)
    carried = Effects(effects.levels, previous=(0.06, *([0.0] * (count - 1))))
    truth = [0.06] + [-0.06 / (count - 1)] * (count - 1)
    for _ in range(studies):
        found = measure_previous(simulate(draw, 60, carried, phi=0.9))
        covered += found.low <= truth[found.group] <= found.high
    assert covered / studies >= 0.95 - 3 * math.sqrt(LEVEL * (1 - LEVEL) / studies)


def found_rate(measure, effects, rounds=100, group=None, studies=40, **noise):
    draw, hits = np.random.default_rng(7), 0
    for _ in range(studies):
        found = measure(simulate(draw, rounds, effects, **noise))
        right = group is None or found.group == group
        hits += found.is_flagged(LEVEL / 4, RELEVANT) and right
    return hits / studies


@pytest.mark.parametrize("effects", [TWO, FOUR])
def test_an_effect_of_the_previous_configuration_is_found(effects):
    carried = Effects(effects.levels, previous=(0.0, -0.08, 0.0, 0.0)[: len(effects.levels)])
    assert found_rate(measure_previous, carried, phi=0.9) >= 0.95


@pytest.mark.parametrize("levels", [(0.0, -0.3), (0.0, 0.1, -0.3)])
def test_exponential_carry_over_is_found(levels):
    """The rate approaches that of its configuration from that of the previous one."""
    effects = Effects(levels, memory=0.15)
    assert found_rate(measure_previous, effects, phi=0.9) >= 0.95
    assert found_rate(measure_residence, effects, phi=0.9, rounds=200) >= 0.95


@pytest.mark.parametrize("count", [2, 4])
def test_a_slow_response_is_found_by_residence(count):
    """After a switch the last configuration is 30 % slower, with a time constant of 0.3 s."""
    response = (*([0.0] * (count - 1)), -0.35)
    effects = Effects((0.0,) * count, response=response, constant=0.3)
    assert found_rate(measure_residence, effects, phi=0.9, rounds=150, group=count - 1) >= 0.9


def test_a_trend_within_rounds_is_found():
    assert found_rate(measure_position, Effects(FOUR.levels, trend=0.03), phi=0.9) >= 0.95


def test_drift_is_found_with_its_bias():
    """2 % a second, and windows of one configuration 1 s later than those of the baseline."""
    draw = np.random.default_rng(8)
    effects = Effects(TWO.levels, drift=0.02)
    found = measure_drift(simulate(draw, 100, effects, white=0.02, slow=0.0), [0.0, 1.0])
    assert found.low < 0.02 < found.high
    assert found.bias.is_flagged(LEVEL / 4, RELEVANT)
    assert found.bias.group == 1
    assert found.bias.effect == pytest.approx(found.slope)


def test_equal_washouts_have_no_bias_of_drift():
    found = measure_drift(simulate(np.random.default_rng(9), 100, TWO), [0.0, 0.0])
    assert found.bias.effect == 0
    assert not found.bias.is_flagged(LEVEL, RELEVANT)


def test_too_few_rounds_or_configurations():
    draw = np.random.default_rng(10)
    few, alone = simulate(draw, MIN_ROUNDS - 1, TWO), simulate(draw, 20, Effects((0.0,)))
    assert [measure(few) for measure in MEASURES] == [None] * 4
    assert [measure(alone) for measure in MEASURES[:3]] == [None] * 3


def test_figures_without_noise():
    own = simulate(np.random.default_rng(11), 20, TWO, white=0.0, slow=0.0)
    assert all(abs(measure(own).effect) < 1e-12 for measure in MEASURES)
