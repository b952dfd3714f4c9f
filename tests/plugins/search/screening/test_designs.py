"""Balance, resolution and aliases of designs."""

from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy_search.screening.designs import (
    Alias,
    Runs,
    Term,
    find_aliases,
    fractional_factorial,
    full_factorial,
    generalized_subset,
    interactions,
    main_effects,
    plackett_burman,
)

factors = st.integers(3, 40)


def signs(runs: Runs) -> np.ndarray:
    return 2 * runs - 1


def is_orthogonal(runs: Runs) -> bool:
    columns = np.column_stack([np.ones(len(runs)), signs(runs)])
    return bool((columns.T @ columns == len(runs) * np.eye(columns.shape[1])).all())


def starts_plain_and_never_repeats(runs: Runs) -> bool:
    return not runs[0].any() and len(np.unique(runs, axis=0)) == len(runs)


@given(number=factors, fold_over=st.booleans())
def test_plackett_burman_is_orthogonal_and_small(*, number: int, fold_over: bool):
    runs = plackett_burman(number, fold_over=fold_over)
    assert is_orthogonal(runs)
    assert starts_plain_and_never_repeats(runs)
    each = len(runs) // (2 if fold_over else 1)
    assert each % 4 == 0
    assert number < each <= max(number + 4, 1.4 * number)


@pytest.mark.parametrize(
    ("number", "runs"), [(3, 4), (7, 8), (8, 12), (11, 12), (23, 24), (24, 32), (31, 32)]
)
def test_plackett_burman_takes_as_many_runs_as_its_tables(number: int, runs: int):
    assert len(plackett_burman(number, fold_over=False)) == runs


@given(number=st.integers(3, 14))
def test_fold_over_frees_main_effects_of_two_factor_interactions(number: int):
    alone, folded = (plackett_burman(number, fold_over=fold_over) for fold_over in (False, True))
    assert find_aliases(alone, [2] * number)
    assert not find_aliases(folded, [2] * number)
    mirrored = {tuple(1 - run) for run in folded}
    assert mirrored == {tuple(run) for run in folded}


def shortest_word(runs: Runs) -> int:
    """The resolution by its definition: the fewest columns whose product is constant.

    A full design has none.
    """
    columns = signs(runs)
    for length in range(1, columns.shape[1] + 1):
        for chosen in combinations(range(columns.shape[1]), length):
            if abs(columns[:, chosen].prod(axis=1).sum()) == len(runs):
                return length
    return 99


@given(number=st.integers(3, 9), resolution=st.integers(3, 5))
def test_a_fraction_has_the_requested_resolution(number: int, resolution: int):
    runs = fractional_factorial(number, resolution)
    assert shortest_word(runs) >= resolution
    assert is_orthogonal(runs)
    assert starts_plain_and_never_repeats(runs)
    free = not find_aliases(runs, [2] * number)
    assert free == (shortest_word(runs) >= 4)
    estimable = len(interactions(runs, [2] * number).terms)
    assert estimable == (comb(number, 2) if shortest_word(runs) >= 5 else 0)


def test_the_smallest_fraction_is_taken():
    assert [len(fractional_factorial(5, resolution)) for resolution in (3, 4, 5)] == [8, 16, 16]
    assert len(fractional_factorial(7, 4)) == 16


@given(levels=st.lists(st.integers(2, 4), min_size=2, max_size=4))
def test_a_full_design_holds_every_combination_and_aliases_nothing(levels: list[int]):
    runs = full_factorial(levels)
    assert len({tuple(run) for run in runs}) == prod(levels) == len(runs)
    assert not runs[0].any()
    assert not find_aliases(runs, levels)


@pytest.mark.parametrize(
    ("levels", "reduction"),
    [([3, 3, 3], 3), ([3, 3, 3, 2], 3), ([4, 3, 2, 2], 2), ([3, 2, 2, 2], 2)],
)
def test_a_subset_is_smaller_has_every_level_and_separates_all_effects(
    levels: list[int], reduction: int
):
    runs = generalized_subset(levels, reduction)
    assert len(runs) == pytest.approx(prod(levels) / reduction, rel=0.35)
    assert starts_plain_and_never_repeats(runs)
    assert [set(column) for column in runs.T] == [set(range(number)) for number in levels]
    assert len(main_effects(runs, levels).terms) == sum(levels) - len(levels)


def test_a_subset_too_small_for_its_effects_is_refused():
    with pytest.raises(ValueError, match="2 runs cannot separate 2 effects"):
        main_effects(generalized_subset([2, 2], 2), [2, 2])


def test_the_textbook_alias_structure_of_the_half_fraction_in_four_runs():
    runs = plackett_burman(3, fold_over=False)
    found = find_aliases(runs, [2, 2, 2])
    expected = {(0, (1, 2)), (1, (0, 2)), (2, (0, 1))}
    assert {_by_factors(alias) for alias in found} == expected
    assert {round(alias.share, 9) for alias in found} == {0.5}


def test_twelve_runs_alias_each_effect_with_a_third_of_every_interaction_of_two_others():
    found = find_aliases(plackett_burman(11, fold_over=False), [2] * 11)
    assert len(found) == 11 * comb(10, 2)
    assert {round(alias.share, 9) for alias in found} == {round(0.5 / 3, 9)}
    assert all(alias.effect.parts[0][0] not in _by_factors(alias)[1] for alias in found)


def _by_factors(alias: Alias) -> tuple[int, tuple[int, ...]]:
    return alias.effect.parts[0][0], tuple(factor for factor, _ in alias.interaction.parts)


@given(
    levels=st.lists(st.integers(2, 4), min_size=2, max_size=4),
    effects=st.lists(st.floats(-1, 1), min_size=16, max_size=16),
)
def test_contrasts_give_back_the_effects_that_made_the_figures(
    levels: list[int], effects: list[float]
):
    runs = full_factorial(levels)
    true = {(f, v): effects[4 * f + v] for f, n in enumerate(levels) for v in range(1, n)}
    figures = np.array([7 + sum(true.get((f, int(v)), 0) for f, v in enumerate(r)) for r in runs])
    contrasts = main_effects(runs, levels)
    for term, weights in zip(contrasts.terms, contrasts.weights, strict=True):
        assert weights.sum() == pytest.approx(0, abs=1e-9)
        assert weights @ figures == pytest.approx(true[term.parts[0]], abs=1e-9)


def test_an_interaction_is_what_both_give_beyond_each_alone():
    runs = full_factorial([2, 2, 2])
    both = (runs[:, 0] & runs[:, 2]).astype(float)
    contrasts = interactions(runs, [2, 2, 2])
    estimates = dict(
        zip(contrasts.terms, contrasts.weights @ (0.3 * both + runs[:, 1]), strict=True)
    )
    assert estimates[Term(((0, 1), (2, 1)))] == pytest.approx(0.3)
    assert estimates[Term(((0, 1), (1, 1)))] == pytest.approx(0)


def test_a_share_is_what_the_estimate_takes_of_the_interaction():
    runs = plackett_burman(5, fold_over=False)
    (alias, *_) = find_aliases(runs, [2] * 5)
    (effect, level), (j, k) = alias.effect.parts[0], _by_factors(alias)[1]
    assert level == 1
    centred = (runs[:, j] - 0.5) * (runs[:, k] - 0.5)
    contrasts = main_effects(runs, [2] * 5)
    moved = contrasts.weights[effect] @ centred
    assert abs(moved) == pytest.approx(alias.share)


def test_a_subset_that_nobody_would_wait_for_is_refused():
    with pytest.raises(ValueError, match="8 factors reduced by 8 take too long"):
        generalized_subset([2] * 8, 8)
