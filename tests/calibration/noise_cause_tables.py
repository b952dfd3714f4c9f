"""Tables of docs/method/calibration.md on causes of noise: chance, power, confusion."""

from __future__ import annotations

from collections import Counter

import numpy as np

from iostudy.analysis.variance_shares import VarianceShare, measure_variance_shares
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import SEED, Array, NoiseShape, noise
from tests.results.synthetic_noise import SITUATIONS, find_causes

STUDIES, REPETITIONS = 1000, 100
FOUND_STUDIES = 400
"""Fewer, because intervals are computed by a jackknife."""
COVARIATES = 8
SIZES = ((10, 2), (10, 4))
"""Blocks and configurations of ``iostudy power``, and of a study."""


def noise_causes_by_chance() -> list[Row]:
    """Figures and covariates without any relation, all with one shape of noise."""
    heads = (f"{blocks} blocks of {labels}" for blocks, labels in SIZES)
    rows: list[Row] = [("noise", *heads)]
    for shape in NoiseShape:
        rates = (named_by_chance(shape, *size, STUDIES) for size in SIZES)
        rows.append((shape, *map(percent, rates)))
    return rows


def named_by_chance(shape: NoiseShape, blocks: int, labels: int, studies: int) -> float:
    """The share of studies with any cause."""
    draw = np.random.default_rng([SEED, 11, list(NoiseShape).index(shape), labels])
    named = 0
    for _ in range(studies):
        positions = _positions(draw, blocks, labels)
        figures, *covariates = (
            _in_blocks(noise(shape, draw, 1, blocks * labels)[0], positions)
            for _ in range(1 + COVARIATES)
        )
        named += bool(measure_variance_shares(figures, covariates, positions))
    return named / studies


def noise_causes_found() -> list[Row]:
    """One cause of a given share among eight covariates."""
    heads = ("blocks", "configurations", "true share", "named", "estimate", "interval holds it")
    rows: list[Row] = [(*heads, "another named")]
    for blocks, labels in SIZES:
        for share in (0.3, 0.6, 0.9):
            shown = (str(blocks), str(labels), f"{100 * share:.0f} %")
            rows.append((*shown, *map(percent, found(share, blocks, labels, FOUND_STUDIES))))
    return rows


def found(share: float, blocks: int, labels: int, studies: int) -> tuple[float, ...]:
    """Rates of naming, the mean estimate, the coverage of its interval, and rate of others."""
    draw, own, others = np.random.default_rng([SEED, 12, labels]), list[VarianceShare](), 0
    for _ in range(studies):
        covariates = draw.exponential(size=(COVARIATES, blocks, labels))
        rest = draw.standard_normal((blocks, labels))
        figures = -np.sqrt(share) * covariates[0] + np.sqrt(1 - share) * rest
        causes = measure_variance_shares(
            figures, list(covariates), _positions(draw, blocks, labels)
        )
        own += [each for each in causes if each.index == 0]
        others += any(each.index for each in causes)
    mean = float(np.mean([each.share for each in own]))
    holds = float(np.mean([each.low <= share <= each.high for each in own]))
    return len(own) / studies, mean, holds, others / studies


def noise_causes_confused() -> list[Row]:
    """Synthetic studies with one cause and its consequences, 12 blocks of 2."""
    rows: list[Row] = [("cause", "named first", "mean share", "also named")]
    for situation, expected in SITUATIONS.items():
        first, shares, others = 0, list[float](), Counter[str]()
        for seed in range(REPETITIONS):
            causes = find_causes(situation, seed)
            first += next(iter(causes), None) is expected
            shares.append(sum(causes.values()) if expected is None else causes.get(expected, 0.0))
            others.update(str(cause) for cause in causes if cause is not expected)
        also = ", ".join(f"{cause} {count}" for cause, count in others.most_common())
        name = expected or "none"
        rows.append((name, f"{first} of {REPETITIONS}", percent(float(np.mean(shares))), also))
    return rows


def _positions(draw: np.random.Generator, blocks: int, labels: int) -> Array:
    return draw.permuted(np.tile(np.arange(float(labels)), (blocks, 1)), axis=1)


def _in_blocks(series: Array, positions: Array) -> Array:
    """A series in run order by block and configuration."""
    rows = series.reshape(positions.shape)
    return np.take_along_axis(rows, positions.astype(int), axis=1)


TABLES = (noise_causes_by_chance, noise_causes_found, noise_causes_confused)
