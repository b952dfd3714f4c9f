import numpy as np
import pytest

from iostudy.analysis.switchback.slow_response import SlowCheck

BIN_SECONDS, CURVE_BINS, STAY_BINS = 0.02, 15, 300
CURVES, STUDIES = 8, 200
TOLERANCE = 0.0122


class SwitchedLevel:
    """A level that is switched in again and again, with noise of a random walk.

    ``wander`` is the deviation of the log rate after a second, ``start`` the rate after a switch
    relative to the final one, approached with ``constant`` seconds.
    """

    def __init__(self, seed, wander, start=1.0, constant=1.0):
        self._draw = np.random.default_rng(seed)
        self._step = wander * BIN_SECONDS**0.5
        self._start, self._constant = start, constant
        self._log_rate = 0.0
        self.stays = 0

    def curve(self, bins):
        walk = self._log_rate + np.cumsum(self._step * self._draw.standard_normal(bins))
        self._log_rate = walk[-1]
        times = BIN_SECONDS * (np.arange(bins) + 0.5)
        response = np.log(1 + (self._start - 1) * np.exp(-times / self._constant))
        return np.exp(walk + response + 0.1 * self._draw.standard_normal(bins))

    def stay(self):
        self.stays += 1
        return self.curve(STAY_BINS)


def check(level, stays=1):
    curves = np.stack([level.curve(CURVE_BINS) for _ in range(CURVES)])
    return SlowCheck(curves, BIN_SECONDS, 0.02, TOLERANCE).is_slow(stays, level.stay, ())


@pytest.mark.parametrize(("wander", "stays"), [(0.0, 1.1), (0.05, 4.3), (0.1, 5.3)])
def test_slow_noise_costs_a_few_long_stays(wander, stays):
    """The noise of the curves and that of a stay are far apart, so it is suspicious at first."""
    levels = [SwitchedLevel(seed, wander) for seed in range(STUDIES)]
    slow = [check(level) for level in levels]
    assert np.mean(slow) <= 0.05
    assert np.mean([level.stays for level in levels]) <= stays


def test_a_slow_response_is_found_in_slow_noise():
    assert np.mean([check(SwitchedLevel(seed, 0.03, 0.7, 2.0)) for seed in range(STUDIES)]) >= 0.9


def test_a_level_without_a_suspicion_has_its_first_stays():
    level = SwitchedLevel(1, 0.0)
    assert not check(level, stays=2)
    assert level.stays == 2
