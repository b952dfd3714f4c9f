"""Tables of docs/method/calibration.md on covariate imbalances: false flags and power."""

from __future__ import annotations

import numpy as np

from iostudy.analysis.balance import measure_balance
from iostudy.analysis.series import FamilyOfTests
from tests.calibration.rows import Row, percent
from tests.calibration.simulation import SEED, Array, NoiseShape, noise

STUDIES, IMBALANCED = 1000, 200
CONFIGURATIONS = 4
SHARED = FamilyOfTests(series=1, pairs=CONFIGURATIONS - 1, covariates=3)
"""Of a study of one workload with steal, foreign CPU and foreign I/O."""
MEAN, SPREAD, MORE = 0.2, 0.05, 0.05


def imbalances_flagged() -> list[Row]:
    """One covariate under every shape of noise: equal, then 5 points more under one of four."""
    rows: list[Row] = [("noise of the covariate", "equal", "found in 10 blocks", "in 20 blocks")]
    for shape in NoiseShape:
        equal = flagged(shape, blocks=10, more=0.0, studies=STUDIES)
        found = (flagged(shape, blocks=n, more=MORE, studies=IMBALANCED) for n in (10, 20))
        rows.append((shape, *map(percent, (equal, *found))))
    return rows


def flagged(shape: NoiseShape, *, blocks: int, more: float, studies: int) -> float:
    """The share of studies in which the test of one covariate is below its level."""
    draw = np.random.default_rng([SEED, 10, list(NoiseShape).index(shape), blocks])
    trials = noise(shape, draw, studies, blocks * CONFIGURATIONS)
    in_order = np.clip(MEAN + SPREAD * trials, 0, 1).reshape(studies, blocks, CONFIGURATIONS)
    shares = draw.permuted(in_order, axis=2)
    shares[:, :, 1] += more
    return float(np.mean([_is_flagged(own) for own in shares]))


def _is_flagged(shares: Array) -> bool:
    found = measure_balance(shares, SHARED.level)
    return found is not None and found.p < SHARED.level


TABLES = (imbalances_flagged,)
