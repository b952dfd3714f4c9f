"""Screening designs with their contrasts and aliases.

A design is a matrix of runs x factors of level indexes, 0 for the first level. The first run has
every factor at its first level. Levels are renamed where a construction starts otherwise, which
changes neither orthogonality nor aliasing.

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

_MAX_ARRAY_ROWS = 200_000
"""Most rows of the orthogonal arrays behind a subset design: reduction ^ factors."""

_ROUNDING = 1e-9
"""Sums of weights below this are rounding errors."""


@dataclass(frozen=True)
class Term:
    """A main effect (one pair) or an interaction (two); a pair is (factor index, level index)."""

    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Contrasts:
    """Effects as weights of runs: ``weights`` is terms x runs, and each row sums to 0.

    ``reference`` are the weights of the figure with all first levels in the additive model.
    """

    terms: tuple[Term, ...]
    weights: Array
    reference: Array


@dataclass(frozen=True)
class Alias:
    """A main effect that is aliased with an interaction of two other levels.

    ``share``: the fraction of the interaction in the estimate of the effect; one half under full
    aliasing of two-level factors.
    """

    effect: Term
    interaction: Term
    share: float


def full_factorial(levels: Sequence[int]) -> Runs:
    """Return every combination of levels; the last factor changes fastest."""
    return np.array(list(product(*map(range, levels))), dtype=np.int64)


def plackett_burman(factors: int, *, fold_over: bool) -> Runs:
    """Return the smallest Plackett-Burman (1946) design of two levels per factor.

    With ``fold_over`` each run has a mirror image with every factor at its other level.
    """
    # Imported in each construction because pydoe takes seconds to load.
    from pydoe import pbdesign

    signs = pbdesign(_plackett_burman_runs(factors) - 1)[:, :factors]
    if fold_over:
        signs = np.vstack([signs, -signs])
    return _from_first_levels(signs > 0)


def _plackett_burman_runs(factors: int) -> int:
    """The number of runs: the smallest of 4, 12 and 20, doubled until it exceeds the factors."""
    return min(base << max(0, (factors // base).bit_length()) for base in (4, 12, 20))


def fractional_factorial(factors: int, resolution: int) -> Runs:
    """Return the smallest regular two-level fraction of at least that resolution."""
    from pydoe import fracfact_by_res

    return _from_first_levels(fracfact_by_res(factors, resolution) > 0)


def generalized_subset(levels: Sequence[int], reduction: int) -> Runs:
    """Return a generalised subset design (Surowiec et al. 2017), about 1/``reduction`` of all runs.

    ValueError where none exists, or none that takes about a second to construct.
    """
    from pydoe import gsd

    if reduction ** len(levels) > _MAX_ARRAY_ROWS:
        raise ValueError(f"{len(levels)} factors reduced by {reduction} take too long to construct")

    return _from_first_levels(np.asarray(gsd(list(levels), reduction)))


def _from_first_levels(runs: NDArray[np.bool_] | Runs) -> Runs:
    """Rename levels so that the first run has every factor at its first level."""
    indexes = runs.astype(np.int64)
    first = indexes[0]
    return np.where(indexes == first, 0, np.where(indexes == 0, first, indexes))


def main_effects(runs: Runs, levels: Sequence[int]) -> Contrasts:
    """Return the contrasts of each level but the first with the first.

    ValueError where the runs cannot separate all effects.
    """
    terms = [
        Term(((factor, level),))
        for factor, number in enumerate(levels)
        for level in range(1, number)
    ]
    model = np.column_stack([np.ones(len(runs)), *(_indicator(runs, term) for term in terms)])
    if np.linalg.matrix_rank(model) < model.shape[1]:
        raise ValueError(f"its {len(runs)} runs cannot separate {len(terms)} effects")
    reference, *weights = np.linalg.pinv(model)
    return Contrasts(tuple(terms), np.array(weights), reference)


def interactions(runs: Runs, levels: Sequence[int]) -> Contrasts:
    """Return the two-factor interactions of a two-level design that separates them; else none.

    Each is the joint effect minus both single effects: x_11 - x_10 - x_01 + x_00.
    """
    reference = main_effects(runs, levels).reference
    none = Contrasts((), np.empty((0, len(runs))), reference)
    pairs = list(combinations(range(len(levels)), 2))
    if set(levels) != {2} or len(runs) <= len(levels) + len(pairs):
        return none
    signs = 2.0 * runs - 1
    products = np.column_stack([signs[:, j] * signs[:, k] for j, k in pairs])
    columns = np.column_stack([signs, products])
    gram = columns.T @ columns
    if np.abs(gram - np.diag(np.diag(gram))).max() > _ROUNDING:
        return none
    terms = tuple(Term(((j, 1), (k, 1))) for j, k in pairs)
    return Contrasts(terms, 4 * products.T / len(runs), reference)


def find_aliases(runs: Runs, levels: Sequence[int]) -> tuple[Alias, ...]:
    """Find the main effects aliased with interactions of two levels, in the order of effects.

    Interactions are centred, so that they contain no part of their main effects.
    """
    effects = main_effects(runs, levels)
    aliases = [
        Alias(term, interaction, float(share))
        for interaction in _pairs_of_levels(levels)
        for term, share in zip(
            effects.terms,
            np.abs(effects.weights @ _centred_product(runs, interaction, levels)),
            strict=True,
        )
        if share > _ROUNDING
    ]
    return tuple(sorted(aliases, key=lambda alias: effects.terms.index(alias.effect)))


def _pairs_of_levels(levels: Sequence[int]) -> Iterator[Term]:
    for j, k in combinations(range(len(levels)), 2):
        for first, second in product(range(1, levels[j]), range(1, levels[k])):
            yield Term(((j, first), (k, second)))


def _indicator(runs: Runs, term: Term) -> Array:
    """The indicator of a main effect's level: 1 in runs with it, 0 in the others."""
    ((factor, level),) = term.parts
    return np.asarray(runs[:, factor] == level, dtype=np.float64)


def _centred_product(runs: Runs, term: Term, levels: Sequence[int]) -> Array:
    """The product of both indicators, each centred by its share of all combinations."""
    j, k = (_indicator(runs, Term((part,))) - 1 / levels[part[0]] for part in term.parts)
    return j * k
