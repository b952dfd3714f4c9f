"""Synthetic rounds of windows: configurations in random order after a conditioning period."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.switchback.carry_over import Rounds

WINDOW, WASHOUT = 0.1, 0.05
"""Seconds of the windows, and of the washout of every configuration."""


@dataclass(frozen=True)
class Effects:
    """Effects on log figures; tuples are by configuration.

    ``previous`` is added after a configuration, ``trend`` at each position, ``drift`` a second.
    A switch changes a rate by ``response``, which decays with ``constant`` seconds. With
    ``memory`` the log rate instead approaches the ``levels`` with that time constant from where
    the previous configuration left it.
    """

    levels: tuple[float, ...]
    previous: tuple[float, ...] = ()
    trend: float = 0.0
    drift: float = 0.0
    response: tuple[float, ...] = ()
    constant: float = 1.0
    memory: float = 0.0


def simulate(
    draw: np.random.Generator, rounds: int, effects: Effects, *, phi=0.0, slow=0.05, white=0.05
) -> Rounds:
    """Rounds with white noise of each window, and AR(1) noise or (phi 1) a random walk."""
    count = len(effects.levels)
    order = np.argsort(draw.random((rounds, count)), axis=1)
    noise = _slow_noise(draw, rounds * (count + 1), phi, slow).reshape(rounds, count + 1)[:, 1:]
    noise = noise + white * draw.standard_normal((rounds, count))
    logs, positions = np.empty((rounds, count)), np.empty((rounds, count), dtype=np.int64)
    previous = np.empty((rounds, count), dtype=np.int64)
    state, seconds = effects.levels[0], 0.0
    for r, drawn in enumerate(order):
        before, since = -1, 0.0
        for place, own in enumerate([drawn[0], *drawn]):
            # The window at position 1 follows the discarded one without a switch.
            step = WINDOW if place == 1 else WASHOUT + WINDOW
            since = since + step if place == 1 else step
            level = effects.levels[own]
            mean = level + _response(effects, own, since - WINDOW / 2)
            if effects.memory:
                after = (state - level) * math.exp(-(step - WINDOW / 2) / effects.memory)
                mean = level + after
                state = level + (state - level) * math.exp(-step / effects.memory)
            seconds += step
            if place:
                carried = effects.previous[before] if effects.previous else 0.0
                mean += carried + effects.trend * place + effects.drift * seconds
                logs[r, own] = mean + noise[r, place - 1]
                positions[r, own], previous[r, own] = place - 1, before
            before = own
    return Rounds(logs, positions, previous, count * (WASHOUT + WINDOW) + WINDOW)


def _response(effects: Effects, own: int, seconds: float) -> float:
    if not effects.response:
        return 0.0
    return effects.response[own] * math.exp(-seconds / effects.constant)


def _slow_noise(draw: np.random.Generator, count: int, phi: float, slow: float):
    steps = draw.standard_normal(count) * slow * (math.sqrt(1 - phi**2) if phi < 1 else 0.1)
    values = np.empty(count)
    values[0] = slow * draw.standard_normal()
    for index in range(1, count):
        values[index] = phi * values[index - 1] + steps[index]
    return values
