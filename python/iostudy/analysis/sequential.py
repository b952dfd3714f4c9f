"""Levels of the interim analyses of a paired t test, exact for a given risk.

An ordinary 95 % interval after every block excludes zero in far more than 5 % of studies of equal
configurations. Smaller levels bound the probability that *any* interval misses by the requested
risk. These are repeated confidence intervals (Jennison & Turnbull 1989). Two sets of levels do so:

- *Error spending* (Lan & DeMets 1983): a function of the share of blocks gives the risk that may be
  spent up to each analysis. The share `spent` of the risk is 0.3 t + 0.7 t^8: some for an early
  stop at a large difference, most for the last blocks, where a small one is decided.
- *One level* a*, the same at every analysis (Pocock 1977).

Levels are computed, not simulated, by the chain of `iostudy.analysis.t_chain`: forward, one
analysis after another, the probability to leave at each of them is a one-dimensional integral.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from iostudy.analysis.spending import spent
from iostudy.analysis.t_chain import StayedInside

LOOK_GROWTH = 1 / 32
"""An analysis follows after one block, or after this share of the blocks so far if that is more."""

_TOLERANCE = 1e-5
"""Largest last step in the logarithm of a level; the remaining error is far smaller."""

_MAX_STEPS, _LEAST_LEAVING = 60, 1e-300

_USUAL_SLOPE, _STEEPEST = 2.0, 20.0
"""Of the logarithm of the probability to leave in that of the level; steeper below the error."""


def plan_looks(min_blocks: int, max_blocks: int, growth: float = LOOK_GROWTH) -> tuple[int, ...]:
    """Return the numbers of blocks of all analyses, from the fewest to the most blocks.

    ``growth`` is the least increase from one to the next, as a share. Their number grows only with
    the logarithm of the blocks; 0 has one after every block. Raises ValueError for an invalid range
    or growth.
    """
    if not 2 <= min_blocks <= max_blocks:
        raise ValueError(f"blocks must satisfy 2 <= {min_blocks} <= {max_blocks}")
    if not 0 <= growth < math.inf:
        raise ValueError(f"growth must be at least 0, not {growth}")
    looks = [min_blocks]
    while looks[-1] < max_blocks:
        looks.append(min(max_blocks, looks[-1] + max(1, math.ceil(growth * looks[-1]))))
    return tuple(looks)


@dataclass(frozen=True)
class Spending:
    """The level of every analysis, and the distribution that has stayed within all of them."""

    levels: tuple[float, ...]
    inside: StayedInside


@functools.cache
def spend_in_stages(stages: tuple[tuple[int, ...], ...], risks: tuple[float, ...]) -> Spending:
    """Return the two-sided level of every analysis of successive stages.

    ``stages`` are the numbers of blocks of the analyses, ``risks`` what is spent in all at the end
    of each stage. The recursion continues where the stage before ended. Raises ValueError for an
    invalid risk.
    """
    (*earlier, looks), (*spent_before, risk) = stages, risks
    _require_risk(risk)
    if not earlier:
        bounds = [risk * spent(blocks / looks[-1]) for blocks in looks]
        start = Spending((bounds[0],), StayedInside.first(looks[0], bounds[0]))
        return _spend(start, looks[1:], bounds)
    start = spend_in_stages(tuple(earlier), tuple(spent_before))
    began, before = earlier[-1][-1], spent_before[-1]
    shares = ((blocks - began) / (looks[-1] - began) for blocks in looks)
    return _spend(
        start, looks, [before, *(before + (risk - before) * spent(share) for share in shares)]
    )


def _spend(start: Spending, looks: Sequence[int], bounds: Sequence[float]) -> Spending:
    """Add analyses; ``bounds`` are the risks spent up to each of them, and before the first."""
    levels, inside = list(start.levels), start.inside
    for blocks, (before, after) in zip(looks, pairwise(bounds), strict=True):
        levels.append(_level_to_spend(inside, blocks, before, after, levels[-1]))
        inside = inside.after(blocks, levels[-1])
    return Spending(tuple(levels), inside)


def _level_to_spend(
    inside: StayedInside, blocks: int, before: float, after: float, start: float
) -> float:
    """The level at which the risk spent grows from ``before`` to ``after``, sought from ``start``.

    It lies between their difference and, by Bonferroni, ``after``; almost at an end of this range
    where the error of the recursion exceeds it, as for levels below 1e-8. The probability to leave
    is nearly a power of the level, hence the logarithms.
    """

    def excess(log_level: float) -> float:
        leaving = inside.leaving(blocks, math.exp(log_level))
        return math.log(max(leaving, _LEAST_LEAVING) / (after - before))

    return math.exp(_solve(excess, math.log(after - before), math.log(after), math.log(start)))


@functools.cache
def repeated_alpha(min_blocks: int, max_blocks: int, risk: float) -> float:
    """Return the one level a* of interim analyses after every block.

    Under the null, P(|T_n| > t(1 - a*/2, n-1) for any n from ``min_blocks`` to ``max_blocks``) is
    ``risk``, a fraction. A single analysis (``min_blocks == max_blocks``) takes the whole risk.
    Raises ValueError for an invalid range of blocks or risk.
    """
    _require_risk(risk)
    looks = len(plan_looks(min_blocks, max_blocks, growth=0))
    if looks == 1:
        return risk

    def excess(log_alpha: float) -> float:
        return math.log(crossing_probability(min_blocks, max_blocks, math.exp(log_alpha)) / risk)

    # The risk lies between that of one analysis and, by Bonferroni, the sum over all of them.
    low, high = math.log(risk / looks), math.log(risk)
    return math.exp(_solve(excess, low, high, (low + high) / 2))


def crossing_probability(min_blocks: int, max_blocks: int, alpha: float) -> float:
    """Return the probability, under the null, that any interval at level ``alpha`` excludes 0."""
    looks = plan_looks(min_blocks, max_blocks, growth=0)
    return crossing_of_levels(looks, (alpha,) * len(looks))


def crossing_of_levels(looks: Sequence[int], levels: Sequence[float]) -> float:
    """Return the probability, under the null, that any interval excludes 0, each at its level."""
    inside = StayedInside.first(looks[0], levels[0])
    for blocks, level in zip(looks[1:], levels[1:], strict=True):
        inside = inside.after(blocks, level)
    return 1.0 - inside.probability


def _require_risk(risk: float) -> None:
    if not 0 < risk < 1:
        raise ValueError(f"risk must lie between 0 and 1, not at {risk}")


def _solve(excess: Callable[[float], float], low: float, high: float, start: float) -> float:
    """Solve ``excess(x) = 0`` between two ends, for a rising and nearly linear function.

    The secant method, and a bisection where the slope is unusual or the step leaves the bracket of
    the values so far. It approaches an end where the function has one sign.
    """
    last, slope = min(high, max(low, start)), _USUAL_SLOPE
    at_last = excess(last)
    for _ in range(_MAX_STEPS):
        if at_last == 0:
            return last
        low, high = (last, high) if at_last < 0 else (low, last)
        following = last - at_last / slope if 0 < slope < _STEEPEST else math.inf
        if not low < following < high:
            following = (low + high) / 2
        step, last = following - last, following
        if abs(step) <= _TOLERANCE:
            break
        before, at_last = at_last, excess(last)
        slope = (at_last - before) / step
    return last
