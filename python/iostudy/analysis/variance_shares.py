"""Shares of the variance of paired figures that go with covariates, by partial regression.

Block and configuration effects are removed from figures and covariates, as the paired comparison
does. A covariate is selected if its correlation with the figures has the sign of a disturbance and
exceeds what chance gives: the largest of all covariates under random permutations (Westfall & Young
1993; for the second covariate and later ones of the residuals, Freedman & Lane 1983). Whole blocks
are permuted in run order, and reversed at random, which keeps their autocorrelation.

The shares of the selected covariates are averages over all orders of entry into the regression
(Lindeman, Merenda & Gold 1980), of adjusted R squared. They sum to that of the regression, so that
correlated covariates do not count twice. Their intervals are those of a jackknife over groups of
consecutive blocks (Miller 1974), and never shorter than those of normal values: disturbances are
skewed, and Fisher's interval alone is then too short.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import Array, Flags, normal_quantile, t_quantile
from iostudy.analysis.noise import CONFIDENCE

LEVEL = 0.05
"""Probability that pure chance names any covariate of a workload."""
_SEED = 20_030
"""Fixed seed: the same trials have the same p values in every report."""
_DRAWS, _DRAWS_AT_ONCE = 1_999, 250
_ROUNDS = 100
"""Most alternating centrings; complete blocks need one."""
_ROUNDING = 1e-9
_MOST_SELECTED = 4
_MOST_GROUPS = 20
"""Most groups of blocks of a jackknife, to bound its time."""


@dataclass(frozen=True)
class VarianceShare:
    """The share of the variance (0 to 1) that goes with the covariate ``index``.

    ``low`` and ``high`` are the ends of its 95 % interval. ``correlation`` is that with the
    figures, ``slope`` their change per unit of the covariate, both without block and configuration
    effects. ``p`` is the p value of the selection.
    """

    index: int
    share: float
    low: float
    high: float
    correlation: float
    slope: float
    p: float


def measure_variance_shares(
    figures: Array, covariates: Sequence[Array], positions: Array
) -> list[VarianceShare]:
    """Return the shares of the selected covariates, the largest first.

    ``figures`` are log figures by block and configuration, larger is better, NaN where unknown.
    ``covariates`` have the same shape; larger is a stronger disturbance. A trial that lacks any of
    them does not count. ``positions`` order the trials of each block by time.
    """
    known = np.isfinite(figures)
    for covariate in covariates:
        known &= np.isfinite(covariate)
    layout = _BlockLayout(known, np.where(known, positions, np.inf))
    y = layout.centre(np.where(known, figures, 0.0))
    columns = [layout.centre(np.where(known, values, 0.0)) for values in covariates]
    varying = [i for i, c in enumerate(columns) if _varies(c, covariates[i], known)]
    if layout.freedom < 1 or not varying or not _varies(y, figures, known):
        return []
    x = np.array([columns[i].ravel() for i in varying])
    selected = dict(_select(layout, y, x))
    if not selected:
        return []
    chosen = list(selected)
    shares = _average_over_orders(y.ravel(), x[chosen], layout.freedom)
    errors = _jackknife_errors(layout, figures, [covariates[varying[i]] for i in chosen])
    parts = [
        VarianceShare(
            varying[i], share, *_interval(share, layout.freedom, error), *_line(y.ravel(), x[i]), p
        )
        for (i, p), share, error in zip(selected.items(), shares, errors, strict=True)
    ]
    return sorted((share for share in parts if share.share > 0), key=lambda share: -share.share)


@dataclass(frozen=True)
class _BlockLayout:
    """The known cells of blocks x configurations, with projections onto their residuals."""

    usable: Flags
    positions: Array

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the residuals of an additive model."""
        blocks, labels = (int(self.usable.any(axis=axis).sum()) for axis in (1, 0))
        return int(self.usable.sum()) - blocks - labels + 1

    def without(self, blocks: NDArray[np.intp]) -> _BlockLayout:
        """The layout without the cells of these blocks."""
        known = self.usable.copy()
        known[blocks] = False
        return _BlockLayout(known, self.positions)

    def centre(self, values: Array) -> Array:
        """Remove block and configuration effects of the last two axes; unknown cells are 0."""
        per_block = np.maximum(self.usable.sum(axis=1), 1)
        per_label = np.maximum(self.usable.sum(axis=0), 1)
        centred, is_complete = np.where(self.usable, values, 0.0), bool(self.usable.all())
        for _ in range(1 if is_complete else _ROUNDS):
            before = centred
            rows = centred.sum(axis=-1, keepdims=True) / per_block[:, None]
            centred = np.where(self.usable, centred - rows, 0.0)
            centred = np.where(
                self.usable, centred - centred.sum(axis=-2, keepdims=True) / per_label, 0.0
            )
            if np.abs(centred - before).max(initial=0.0) <= _ROUNDING * np.abs(values).max():
                break
        return np.asarray(centred)

    def permutations(self, residuals: Array) -> Iterator[Array]:
        """Yield `_DRAWS` permutations of whole blocks of equal size, reversed at random."""
        generator, in_run_order = np.random.default_rng(_SEED), np.argsort(self.positions, axis=1)
        for begin in range(0, _DRAWS, _DRAWS_AT_ONCE):
            count = min(_DRAWS_AT_ONCE, _DRAWS - begin)
            drawn, sizes = np.zeros((count, *residuals.shape)), self.usable.sum(axis=1)
            for size in np.unique(sizes[sizes > 1]):
                (blocks,) = np.nonzero(sizes == size)
                cells = blocks[:, None], in_run_order[blocks, :size]
                order = generator.permuted(np.tile(np.arange(len(blocks)), (count, 1)), axis=1)
                moved = residuals[cells][order]
                is_reversed = generator.random(order.shape)[..., None] < 0.5
                drawn[:, *cells] = np.where(is_reversed, moved[..., ::-1], moved)
            yield drawn


def _varies(centred: Array, values: Array, usable: Flags) -> bool:
    """Return whether more than rounding remains."""
    largest = np.abs(np.where(usable, values, 0.0)).max(initial=0.0)
    return bool(np.abs(centred).max(initial=0.0) > _ROUNDING * largest)


def _select(layout: _BlockLayout, y: Array, x: Array) -> Iterator[tuple[int, float]]:
    """Yield the index and p value of each significant column, in the order of selection."""
    chosen = list[int]()
    while len(chosen) < min(_MOST_SELECTED, len(x), layout.freedom - 1):
        basis = _orthonormal(x[chosen])
        columns = _normalize(_remove(x, basis), x)
        residual = _remove(y.reshape(1, -1), basis)
        observed = -_correlate(residual, columns)[0]
        best = int(np.argmax(observed))
        p = _p_value(layout, residual.reshape(y.shape), basis, columns, float(observed[best]))
        if p >= LEVEL:
            return
        chosen.append(best)
        yield best, p


def _p_value(
    layout: _BlockLayout, residuals: Array, basis: Array, columns: Array, observed: float
) -> float:
    """Return the p value of the largest correlation; drawing stops where it is above `LEVEL`."""
    exceeded = drawn = 0
    for permuted in layout.permutations(residuals):
        values = layout.centre(permuted).reshape(len(permuted), -1)
        chance = (-_correlate(_remove(values, basis), columns)).max(axis=1)
        exceeded += int((chance >= observed * (1 - _ROUNDING)).sum())
        drawn += len(permuted)
        if exceeded >= LEVEL * (_DRAWS + 1):
            break
    return (exceeded + 1) / (drawn + 1) if observed > 0 else 1.0


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of the rows, one per row."""
    return np.asarray(np.linalg.qr(columns.T)[0].T)


def _remove(values: Array, basis: Array) -> Array:
    """Return the part of each row that is orthogonal to the basis."""
    return np.asarray(values - (values @ basis.T) @ basis)


def _normalize(rows: Array, originals: Array) -> Array:
    """Return rows of length 1; those that are only rounding of their originals are 0."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    is_rest = lengths > _ROUNDING * np.linalg.norm(originals, axis=1, keepdims=True)
    return np.where(is_rest, rows / np.where(is_rest, lengths, 1.0), 0.0)


def _correlate(values: Array, columns: Array) -> Array:
    """Return the correlation of each row of values with each normalized column."""
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values @ columns.T / np.where(lengths > 0, lengths, 1.0))


def _average_over_orders(y: Array, x: Array, freedom: int) -> list[float]:
    """Return each column's mean increment of adjusted R squared over all orders of entry."""
    count = len(x)
    explained = {
        subset: _adjusted_r_squared(y, x[list(subset)], freedom)
        for size in range(count + 1)
        for subset in combinations(range(count), size)
    }
    shares = []
    for index in range(count):
        total = 0.0
        for subset in (members for members in explained if index not in members):
            before = math.factorial(len(subset)) * math.factorial(count - len(subset) - 1)
            joined = tuple(sorted((*subset, index)))
            total += before * (explained[joined] - explained[subset])
        shares.append(max(0.0, total / math.factorial(count)))
    return shares


def _adjusted_r_squared(y: Array, x: Array, freedom: int) -> float:
    rest = _remove(y, _orthonormal(x))
    unexplained = float(rest @ rest / (y @ y))
    return 1 - unexplained * freedom / (freedom - len(x))


def _jackknife_errors(
    layout: _BlockLayout, figures: Array, covariates: Sequence[Array]
) -> list[float]:
    """Return the half-width of the interval of each share's z, by a jackknife over blocks.

    Each group of consecutive blocks is left out once. Infinite if the other blocks do not suffice.
    """
    (blocks,) = np.nonzero(layout.usable.any(axis=1))
    groups = np.array_split(blocks, min(len(blocks), _MOST_GROUPS))
    rest = [layout.without(group) for group in groups]
    if min(part.freedom for part in rest) <= len(covariates):
        return [math.inf] * len(covariates)
    z = [list(map(_fisher_z, _shares_in(part, figures, covariates))) for part in rest]
    count = len(groups)
    quantile = -float(t_quantile(count - 1, (1 - CONFIDENCE) / 2))
    return [quantile * float(error) for error in np.std(z, axis=0) * math.sqrt(count - 1)]


def _shares_in(layout: _BlockLayout, figures: Array, covariates: Sequence[Array]) -> list[float]:
    """Return the shares of these covariates in the known cells; 0 where figures are equal."""
    y, *x = (layout.centre(np.where(layout.usable, v, 0.0)).ravel() for v in (figures, *covariates))
    if not y.any():
        return [0.0] * len(x)
    return _average_over_orders(y, np.array(x), layout.freedom)


def _fisher_z(share: float) -> float:
    """Return Fisher's z of the square root of a share."""
    return math.atanh(min(math.sqrt(share), 1 - _ROUNDING))


def _line(y: Array, x: Array) -> tuple[float, float]:
    """Return the correlation of two columns, and the slope of y on x."""
    product, square = float(y @ x), float(x @ x)
    return product / math.sqrt(float(y @ y) * square), product / square


def _interval(share: float, freedom: int, error: float) -> tuple[float, float]:
    """Return the interval of a squared correlation, by Fisher's z transformation.

    n normal observations without further effects have n - 1 degrees of freedom, and z the variance
    1 / (n - 3). ``error`` is the half-width of z by a jackknife; the larger one counts.
    """
    z = _fisher_z(share)
    normal = -normal_quantile((1 - CONFIDENCE) / 2) / math.sqrt(max(1, freedom - 2))
    half = max(normal, error)
    return math.tanh(max(0.0, z - half)) ** 2, math.tanh(z + half) ** 2
