import numpy as np
import pytest

from iostudy_search.optimizer.estimates import estimate_candidates, residual_variance

NAN = np.nan


def by_least_squares(ratios: np.ndarray) -> tuple[float, int]:
    """The residual of trials = blocks + candidates, by a design matrix with a column for each."""
    figures = np.vstack([np.zeros(ratios.shape[1]), ratios])
    rows, columns = np.nonzero(np.isfinite(figures))
    design = np.hstack([np.eye(len(figures))[rows], np.eye(ratios.shape[1])[columns]])
    y = figures[rows, columns]
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    return float(((y - design @ solution) ** 2).sum()) / (len(y) - rank), len(y) - int(rank)


def test_the_noise_is_that_of_the_least_squares_fit():
    draw = np.random.default_rng(1)
    ratios = draw.normal(size=(6, 9))
    ratios[draw.random((6, 9)) < 0.5] = NAN
    variance, freedom = residual_variance(ratios)
    expected, left = by_least_squares(ratios[:, np.isfinite(ratios).any(axis=0)])
    assert freedom == left
    assert variance == pytest.approx(expected)


def test_effects_of_blocks_and_candidates_are_no_noise():
    ratios = np.array([[0.1, 0.1, 0.1], [0.3, 0.3, NAN]])
    assert residual_variance(ratios)[0] == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("ratios", [np.empty((2, 0)), [[0.1], [0.2]], [[NAN, NAN]]])
def test_one_block_gives_no_noise_estimate(ratios: np.ndarray):
    assert residual_variance(np.array(ratios))[1] == 0


def test_means_and_their_covariance_are_those_of_many_simulations():
    draw = np.random.default_rng(2)
    missing = np.array([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [1, 0, 0, 0, 0]], dtype=bool)
    trials = draw.normal(size=(20_000, 4, 5))
    ratios = np.where(missing, NAN, trials[:, 1:] - trials[:, :1])
    values = np.nanmean(ratios, axis=2)
    found = estimate_candidates(ratios[:1], np.ones(1))
    assert found.value == pytest.approx(values[0])
    assert found.covariance_factors[0] == pytest.approx(np.cov(values.T), abs=0.03)


def test_a_difference_in_the_same_blocks_is_a_paired_one():
    draw = np.random.default_rng(3)
    ratios = draw.normal(size=(2, 8))
    ratios[1] -= 1
    found = estimate_candidates(ratios[None], np.ones(1))
    variance = found.variance[0] * (found.covariance_factors[0] @ [1, -1] @ [1, -1])
    assert variance == pytest.approx(2 * found.variance[0] / 8)


def test_workloads_count_by_their_weights():
    ratios = np.array([[[0.1, 0.3]], [[-0.1, 0.1]]])
    found = estimate_candidates(ratios, np.array([0.75, 0.25]))
    assert found.value == pytest.approx([0.15])
    errors = found.standard_errors[:, 0]
    assert found.covariance[0, 0] == pytest.approx(
        (0.75 * errors[0]) ** 2 + (0.25 * errors[1]) ** 2
    )


def test_upper_ends_hold_as_often_as_they_say():
    draw = np.random.default_rng(4)
    held, held_on, held_default = [], [], []
    for _ in range(1000):
        trials = draw.normal(size=(2, 4, 3))
        ratios = trials[:, 1:] - trials[:, :1]
        ratios[:, 2, 1:] = NAN
        found = estimate_candidates(ratios, np.array([0.5, 0.5]))
        held.append(found.upper_bound(2, 0, 0.1) > 0)
        held_default.append(found.upper_bound(2, None, 0.1) > 0)
        held_on.append(found.upper_bounds(0.1)[0, 1] > 0)
    assert np.mean(held) == pytest.approx(0.9, abs=0.02)
    assert np.mean(held_default) == pytest.approx(0.9, abs=0.02)
    assert np.mean(held_on) == pytest.approx(0.9, abs=0.02)


def test_nothing_is_clear_without_a_noise():
    found = estimate_candidates(np.array([[[-5.0], [5.0]]]), np.ones(1))
    assert found.upper_bound(0, 1, 0.05) == np.inf
    assert (found.upper_bounds(0.05) == np.inf).all()
    assert np.isnan(found.standard_errors).all()


def test_figures_without_any_spread():
    found = estimate_candidates(np.array([[[-0.1] * 3, [0.1] * 3]]), np.ones(1))
    assert found.upper_bound(0, 1, 0.05) == pytest.approx(-0.2)
