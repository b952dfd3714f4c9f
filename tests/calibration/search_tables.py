"""Tables of docs/method/calibration.md on searches."""

from __future__ import annotations

import numpy as np

from tests.calibration import searched
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NoiseShape
from tests.calibration.verdict_tables import OPEN_ENDED, REACHABLE

SEARCHES = 100


def search_claims() -> list[Row]:
    """Searches where nothing differs from the default."""
    rows: list[Row] = [("noise", "a win claimed", "the search's own estimate", "trials saved")]
    most = searched.CANDIDATES * searched.RULES.rungs[-1]
    for shape in NoiseShape:
        rates = searched.simulate(shape, searched.flat, OPEN_ENDED, searched.RULES, SEARCHES)
        saved = percent(1 - rates.trials / most)
        rows.append((str(shape), percent(rates.claimed), percent(rates.overstated), saved))
    return rows


def search_finds() -> list[Row]:
    """Searches where the optimum is 10 % better than the default, with and without a race."""
    heads = ("blocks of a candidate", "optimum found", "true gain", "the search's own estimate")
    rows: list[Row] = [(*heads, "confirmation", "a win claimed", "trials")]
    ways = {"1, 2, 4 or 8": searched.RULES, "8": searched.TO_THE_END}
    for way, rules in ways.items():
        rates = searched.simulate(NoiseShape.NORMAL, searched.parabola, REACHABLE, rules, SEARCHES)
        gained = np.array([0, rates.overstated, rates.confirmed_off]) + rates.gained
        gains = (percent(float(own)) for own in np.expm1(gained))
        trials = f"{rates.trials:.0f}"
        rows.append((way, percent(rates.near), *gains, percent(rates.claimed), trials))
    return rows


def search_responses() -> list[Row]:
    """What searches say of their parameters."""
    rows: list[Row] = [("surface", "curve's interval misses", "importance reported")]
    for name, surface in (("flat", searched.flat), ("an optimum of 10 %", searched.parabola)):
        rows.append((name, *map(percent, searched.response_rates(surface, SEARCHES))))
    return rows


TABLES = (search_claims, search_finds, search_responses)
