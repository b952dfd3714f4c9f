"""Tables of docs/method/calibration.md on studies that are continued."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy

from iostudy.analysis.boundaries import build_boundaries
from iostudy.analysis.rule import Rule
from iostudy.analysis.sequential import spend_in_stages
from iostudy.analysis.spending import CONTINUABLE, AnalysisMethod
from iostudy.analysis.verdict import Verdict
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import NOISE, SEED, Array, NoiseShape, carry_out, pairs

POWER_STUDIES = 2_000
ADVERSARY_STUDIES = 10_000
PATHS = 1_000_000
_BATCH = 10_000
PLANNED = Rule(margin=0.03, risk=0.05, min_blocks=5, max_blocks=30)
SHORT = Rule(margin=0.05, risk=0.05, min_blocks=5, max_blocks=10, continuation=CONTINUABLE)
"""A plan of 10 blocks that is continued to 80."""
_RIGHT = {True: (Verdict.BETTER,), False: (Verdict.EQUIVALENT,)}


def continuation_power() -> list[Row]:
    """Right verdicts of a plan of 30 blocks, with and without the reserve, and continued."""
    rows: list[Row] = [
        (
            "sd of a pair",
            "true difference",
            "30 blocks, no reserve",
            "30 blocks",
            "continued to 60",
            "continued to 120",
            "60 blocks planned, no reserve",
        )
    ]
    kept = replace(PLANNED, continuation=CONTINUABLE)
    longer = replace(PLANNED, max_blocks=60)
    for sd in (NOISE, NOISE * math.sqrt(2)):
        for difference in (0.0, 0.02, 0.03, 0.05):
            drawn = _normal_pairs(POWER_STUDIES, 120, difference, sd)
            cases = ((PLANNED, 30), (kept, 30), (kept, 60), (kept, 120), (longer, 60))
            right = (
                carry_out(drawn[:, :blocks], rule).share(*_RIGHT[difference > 0])
                for rule, blocks in cases
            )
            rows.append((f"{sd:.1%}", f"{difference:.0%}", *map(percent, right)))
    return rows


def _normal_pairs(studies: int, blocks: int, difference: float, sd: float) -> Array:
    draw = np.random.default_rng([SEED, 41])
    return math.log1p(difference) + sd * draw.standard_normal((studies, blocks))


def continuation_rates() -> list[Row]:
    """Studies that are ever wrong, if an adversary continues each until it is, to 80 blocks."""
    rows = [("noise", "studies", "false winner", "false equivalent")]
    rows += [
        (str(shape), str(ADVERSARY_STUDIES), *map(percent, _adversary(shape)))
        for shape in NoiseShape
    ]
    normal = percent(_ever_beyond_t())
    rows.append(("normal, Student's t alone", str(PATHS), normal, "–"))
    rows.append(("control: free lengths, Student's t", str(PATHS), percent(_free_lengths()), "–"))
    return rows


def _adversary(shape: NoiseShape) -> tuple[float, float]:
    """The shares of studies ever wrong at a difference of 0, and of exactly the margin."""
    wrong = []
    for difference, words in ((0.0, (Verdict.BETTER, Verdict.WORSE)), (SHORT.delta, _RIGHT[False])):
        ratios = pairs(
            shape, replace(SHORT, max_blocks=80), ADVERSARY_STUDIES, difference=difference
        )
        batches = np.split(ratios, len(ratios) // _BATCH)
        wrong.append(float(np.mean([carry_out(own, SHORT).share(*words) for own in batches])))
    return wrong[0], wrong[1]


def _batches() -> Iterator[Array]:
    draw = np.random.default_rng([SEED, 42])
    for _ in range(PATHS // _BATCH):
        yield draw.standard_normal((_BATCH, 80))


def _t_statistics(values: Array) -> Array:
    """|T_n| of every first n values, from the second on."""
    n = np.arange(2, values.shape[1] + 1)
    mean = np.cumsum(values, axis=1)[:, 1:] / n
    square = np.cumsum(values**2, axis=1)[:, 1:] / n - mean**2
    return np.abs(mean) / np.sqrt(square / (n - 1))


def _ever_beyond_t() -> float:
    """The share of paths beyond any boundary of any stage."""
    own = build_boundaries(
        AnalysisMethod.ERROR_SPENDING, 5, 10, SHORT.risk, CONTINUABLE, CONTINUABLE.stages
    )
    looks = np.array(own.looks)
    limits = scipy.stats.t.isf(own.difference / 2, looks - 1)
    beyond = sum(
        (_t_statistics(own)[:, looks - 2] > limits).any(axis=1).sum() for own in _batches()
    )
    return float(beyond) / PATHS


_FIRST, _LENGTHS = 20, (21, 22, 25, 30, 40, 60, 80)


def _free_lengths() -> float:
    """The share of paths that are wrong if the second stage has the best length for that.

    There is one look after 20 blocks, and one at the end of the second stage. Each length has the
    levels of a study that fixed it beforehand. The adversary knows the first result.
    """
    risks = CONTINUABLE.risks(SHORT.risk)[:2]
    first = -scipy.stats.t.ppf(risks[0] / 2, _FIRST - 1)
    levels = [spend_in_stages(((_FIRST,), (own,)), risks).levels[-1] for own in _LENGTHS]
    wrong = 0
    for values in _batches():
        at_first = _t_statistics(values[:, :_FIRST])[:, -1]
        z = np.abs(scipy.stats.norm.ppf(scipy.stats.t.sf(at_first, _FIRST - 1)))
        chances = [
            _crossing(z, length, level) for length, level in zip(_LENGTHS, levels, strict=True)
        ]
        chosen = np.argmax(chances, axis=0)
        t = _t_statistics(values)
        limits = [
            scipy.stats.t.isf(own / 2, n - 1) for n, own in zip(_LENGTHS, levels, strict=True)
        ]
        last = t[np.arange(len(t)), np.array(_LENGTHS)[chosen] - 2]
        wrong += int(((at_first > first) | (last > np.array(limits)[chosen])).sum())
    return wrong / PATHS


def _crossing(z: Array, length: int, level: float) -> Array:
    """The chance to be beyond the level at the end, for a statistic z of the first stage."""
    limit, spread = scipy.stats.norm.isf(level / 2) * math.sqrt(length), math.sqrt(length - _FIRST)
    mean = z * math.sqrt(_FIRST)
    return np.asarray(
        scipy.stats.norm.sf((limit - mean) / spread) + scipy.stats.norm.sf((limit + mean) / spread)
    )


TABLES = (continuation_power, continuation_rates)
