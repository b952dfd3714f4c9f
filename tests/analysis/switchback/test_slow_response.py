import numpy as np
import pytest

from iostudy.analysis.switchback.slow_response import LongStay, SlowCheck, StayCounts

BIN_SECONDS, CURVE_BINS, STAY_BINS = 0.02, 15, 300
CURVES, STUDIES = 8, 200
TOLERANCE = 0.0122


class SwitchedLevels:
    """A level and another without a response, in turn, with common noise of a random walk.

    ``wander`` is the deviation of the log rates after a second, ``start`` the rate after a switch
    relative to the final one, approached with ``constant`` seconds.
    """

    def __init__(self, seed, wander, start=1.0, constant=1.0):
        self._draw = np.random.default_rng(seed)
        self._step = wander * BIN_SECONDS**0.5
        self._start, self._constant = start, constant
        self._log_rate = 0.0
        self.stays = 0

    def following(self):
        return self._curve(CURVE_BINS, 1.0)

    def curve(self):
        return self._curve(CURVE_BINS, self._start)

    def stay(self):
        self.stays += 1
        return LongStay(self._curve(STAY_BINS, self._start), self.following())

    def _curve(self, bins, start):
        walk = self._log_rate + np.cumsum(self._step * self._draw.standard_normal(bins))
        self._log_rate = walk[-1]
        times = BIN_SECONDS * (np.arange(bins) + 0.5)
        response = np.log(1 + (start - 1) * np.exp(-times / self._constant))
        return np.exp(walk + response + 0.1 * self._draw.standard_normal(bins))


def check(levels, stays=1, most=12):
    curves = [(levels.curve(), levels.following()) for _ in range(CURVES)]
    pair = (np.stack(own) for own in zip(*curves, strict=True))
    slow = SlowCheck(*pair, BIN_SECONDS, 0.02, TOLERANCE)
    return slow.is_slow(StayCounts(stays, most), levels.stay, ())


@pytest.mark.parametrize(("wander", "stays"), [(0.0, 1.1), (0.05, 4.3), (0.1, 5.3)])
def test_slow_noise_costs_a_few_long_stays(wander, stays):
    """The noise of the curves and that of a stay are far apart, so it is suspicious at first."""
    levels = [SwitchedLevels(seed, wander) for seed in range(STUDIES)]
    slow = [check(level) for level in levels]
    assert np.mean(slow) <= 0.05
    assert np.mean([level.stays for level in levels]) <= stays


def test_a_slow_response_is_found_in_slow_noise():
    assert np.mean([check(SwitchedLevels(seed, 0.03, 0.7, 2.0)) for seed in range(STUDIES)]) >= 0.9


def test_a_level_without_a_suspicion_has_its_first_stays():
    level = SwitchedLevels(1, 0.0)
    assert not check(level, stays=2)
    assert level.stays == 2


def test_a_short_study_finds_a_large_response_with_one_long_stay():
    levels = [SwitchedLevels(seed, 0.03, 0.7, 2.0) for seed in range(STUDIES)]
    assert np.mean([check(level, most=1) for level in levels]) >= 0.9
    assert all(level.stays == 1 for level in levels)


@pytest.mark.parametrize("wander", [0.0, 0.05, 0.1])
def test_one_long_stay_in_slow_noise_shows_no_response(wander):
    slow = [check(SwitchedLevels(seed, wander), most=1) for seed in range(STUDIES)]
    assert np.mean(slow) <= 0.1
