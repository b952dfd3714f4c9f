"""Designs: which levels go together in a screening, and what their runs can tell apart.

A design is a matrix of runs x factors that holds the index of each factor's level, 0 for the first.
The first run has every factor at its first level: levels are renamed where a construction begins
otherwise, which changes neither orthogonality nor what is aliased with what.

The effect of a level is a contrast: a weight for each run, by least squares on the main effects
with the first levels as reference. Two-level designs give half of the runs +2/N and half -2/N (Box,
Hunter & Hunter 2005, chapter 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Runs = NDArray[np.int64]
Array = NDArray[np.float64]

_MOST_STEPS = 200_000
"""Rows of the orthogonal arrays that a subset is picked from: reduction ^ factors."""

_NOTHING = 1e-9
"""Sums of weights below this are rounding."""


@dataclass(frozen=True)
class Term:
    """A main effect (one pair) or an interaction (two): the factor's index, and that of a level."""

    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Contrasts:
    """Effects as weights of runs: ``weights`` is terms x runs, each of its rows sums to 0.

    ``reference`` are the weights that give the figure with all first levels, as effects add up.
    """

    terms: tuple[Term, ...]
    weights: Array
    reference: Array


@dataclass(frozen=True)
class Alias:
    """A main effect that an interaction of two other levels would move.

    ``share``: how much of the interaction is in the estimate of the effect; half of it where two
    levels are told apart by nothing.
    """

    effect: Term
    interaction: Term
    share: float


def full(levels: Sequence[int]) -> Runs:
    """Every combination of as many levels; the last factor changes fastest."""
    return np.array(list(product(*map(range, levels))), dtype=np.int64)


def plackett_burman(factors: int, *, fold_over: bool) -> Runs:
    """Two levels each, in the smallest multiple of four runs that Plackett & Burman (1946) have.

    With ``fold_over`` each run has a mirror image, in which every factor has its other level.
    """
    # Here and in the other constructions, not above: pydoe takes seconds to load.
    from pydoe import pbdesign

    signs = pbdesign(_size(factors) - 1)[:, :factors]
    if fold_over:
        signs = np.vstack([signs, -signs])
    return _from_first_levels(signs > 0)


def _size(factors: int) -> int:
    """More runs than factors: the least of 4, 12 and 20, each doubled as often as it takes."""
    return min(base << max(0, (factors // base).bit_length()) for base in (4, 12, 20))


def fractional(factors: int, resolution: int) -> Runs:
    """Two levels each: the smallest regular fraction of that resolution or a higher one."""
    from pydoe import fracfact_by_res

    return _from_first_levels(fracfact_by_res(factors, resolution) > 0)


def subset(levels: Sequence[int], reduction: int) -> Runs:
    """A generalised subset design (Surowiec et al. 2017) of about 1/``reduction`` of all runs.

    ValueError where there is none, or none that can be made in about a second.
    """
    from pydoe import gsd

    if reduction ** len(levels) > _MOST_STEPS:
        raise ValueError(f"{len(levels)} factors reduced by {reduction} take too long to construct")

    return _from_first_levels(np.asarray(gsd(list(levels), reduction)))


def _from_first_levels(runs: NDArray[np.bool_] | Runs) -> Runs:
    """The same design with the first run's level of every factor as its first."""
    indexes = runs.astype(np.int64)
    first = indexes[0]
    return np.where(indexes == first, 0, np.where(indexes == 0, first, indexes))


def main_effects(runs: Runs, levels: Sequence[int]) -> Contrasts:
    """The effect of each level but the first, against the first.

    ValueError where the runs do not tell all effects apart.
    """
    terms = [
        Term(((factor, level),))
        for factor, number in enumerate(levels)
        for level in range(1, number)
    ]
    model = np.column_stack([np.ones(len(runs)), *(_present(runs, term) for term in terms)])
    if np.linalg.matrix_rank(model) < model.shape[1]:
        raise ValueError(f"its {len(runs)} runs do not tell {len(terms)} effects apart")
    reference, *weights = np.linalg.pinv(model)
    return Contrasts(tuple(terms), np.array(weights), reference)


def interactions(runs: Runs, levels: Sequence[int]) -> Contrasts:
    """Two-factor interactions of a two-level design that tells all of them apart; else none.

    Each is the effect of both together less those of each alone: x_11 - x_10 - x_01 + x_00.
    """
    reference = main_effects(runs, levels).reference
    none = Contrasts((), np.empty((0, len(runs))), reference)
    pairs = list(combinations(range(len(levels)), 2))
    if set(levels) != {2} or len(runs) <= len(levels) + len(pairs):
        return none
    signs = 2.0 * runs - 1
    products = np.column_stack([signs[:, j] * signs[:, k] for j, k in pairs])
    columns = np.column_stack([signs, products])
    apart = columns.T @ columns
    if np.abs(apart - np.diag(np.diag(apart))).max() > _NOTHING:
        return none
    terms = tuple(Term(((j, 1), (k, 1))) for j, k in pairs)
    return Contrasts(terms, 4 * products.T / len(runs), reference)


def aliases(runs: Runs, levels: Sequence[int]) -> tuple[Alias, ...]:
    """Which interactions of two levels would move which main effects, in the order of effects.

    An interaction is centred, so that it is nothing but what the two effects do not add up to; that
    of a factor with itself, and parts of the effects it belongs to, are none.
    """
    effects = main_effects(runs, levels)
    found = [
        Alias(term, interaction, float(share))
        for interaction in _pairs_of_levels(levels)
        for term, share in zip(
            effects.terms,
            np.abs(effects.weights @ _centred(runs, interaction, levels)),
            strict=True,
        )
        if share > _NOTHING
    ]
    return tuple(sorted(found, key=lambda alias: effects.terms.index(alias.effect)))


def _pairs_of_levels(levels: Sequence[int]) -> Iterator[Term]:
    for j, k in combinations(range(len(levels)), 2):
        for first, second in product(range(1, levels[j]), range(1, levels[k])):
            yield Term(((j, first), (k, second)))


def _present(runs: Runs, term: Term) -> Array:
    """1 in the runs that have the level of a main effect, 0 in the others."""
    ((factor, level),) = term.parts
    return np.asarray(runs[:, factor] == level, dtype=np.float64)


def _centred(runs: Runs, term: Term, levels: Sequence[int]) -> Array:
    """The product of both levels' indicators, each less the share it has in all combinations."""
    j, k = (_present(runs, Term((part,))) - 1 / levels[part[0]] for part in term.parts)
    return j * k
