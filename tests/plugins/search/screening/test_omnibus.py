"""F tests of factors compared with manual formulae, with their error strata."""

import numpy as np
import pytest
import scipy

from iostudy_search.screening.designs import full_factorial
from iostudy_search.screening.omnibus import compute_f_tests


def drawn(runs: np.ndarray, blocks: int, seed: int = 1) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.normal(0, 1, (blocks, len(runs))) + draw.normal(0, 5, (blocks, 1))


def test_a_balanced_design_gives_the_textbook_value():
    runs, blocks = full_factorial([3, 2]), 6
    figures = drawn(runs, blocks)
    of_level = [figures[:, runs[:, 0] == level].mean() for level in range(3)]
    squares = 2 * blocks * np.var(of_level) * 3
    residual = figures - figures.mean(1, keepdims=True) - figures.mean(0) + figures.mean()
    expected = (squares / 2) / ((residual**2).sum() / (5 * 5))
    first, second = compute_f_tests(figures, runs, ())
    assert (first.f, first.degrees, first.error_degrees) == (pytest.approx(expected), 2, 25)
    assert first.p == pytest.approx(scipy.stats.f.sf(expected, 2, 25))
    assert (second.factor, second.degrees) == (1, 1)


def test_an_interaction_is_no_part_of_the_error():
    runs = full_factorial([3, 2])
    figures = drawn(runs, 5)
    centred = ((runs[:, 0] == 1) - 1 / 3) * ((runs[:, 1] == 1) - 1 / 2)
    for plain, crossed in zip(
        compute_f_tests(figures, runs, ()),
        compute_f_tests(figures + 10 * centred, runs, ()),
        strict=True,
    ):
        assert crossed.f == pytest.approx(plain.f)


def test_hard_to_change_factors_are_tested_against_whole_plots():
    runs, studies = full_factorial([3, 2, 2]), 30
    false = {"hard": 0, "easy": 0}
    draw = np.random.default_rng(2)
    for _ in range(studies):
        plots = draw.normal(0, 3, (6, 3))
        figures = draw.normal(0, 1, (6, len(runs))) + plots[:, runs[:, 0]]
        hard, easy, _ = compute_f_tests(figures, runs, (0,))
        assert (hard.degrees, hard.error_degrees) == (2, 10)
        assert easy.error_degrees == 5 * 9
        false["hard"] += hard.p < 0.05
        false["easy"] += easy.p < 0.05
    assert max(false.values()) <= scipy.stats.binom.isf(0.001, studies, 0.05)


def test_one_block_gives_no_error_estimate():
    runs = full_factorial([3, 2])
    assert compute_f_tests(drawn(runs, 1), runs, ()) == ()
