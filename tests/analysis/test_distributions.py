"""Distribution functions against scipy."""

import math

import numpy as np
import pytest
from scipy import special

from iostudy.analysis import distributions

FREEDOMS = np.array([1, 1.5, 2, 3, 7.3, 20, 99, 1000, 9_999.5, 1e5, 1e7, 1e12])
AREAS = np.array([1e-60, 1e-15, 1e-6, 0.001, 0.025, 0.3, 0.4999, 0.5, 0.7, 0.975, 0.999999])


def test_quantiles_of_student_t() -> None:
    found = distributions.t_quantile(FREEDOMS[:, None], AREAS)
    expected = special.stdtrit(FREEDOMS[:, None], AREAS)
    np.testing.assert_allclose(found, expected, rtol=3e-9, atol=1e-9)


def test_probabilities_of_student_t() -> None:
    t = np.array([-300, -40, -5, -1.96, -0.1, 0, 1e-4, 2, 7])
    found = distributions.t_cdf(FREEDOMS[:, None], t)
    expected = special.stdtr(FREEDOMS[:, None], t)
    np.testing.assert_allclose(found, expected, rtol=2e-8, atol=1e-300)


def test_normal_distribution() -> None:
    for z in (-30.0, -3.0, 0.0, 1.5):
        assert distributions.normal_cdf(z) == pytest.approx(special.ndtr(z), rel=1e-13)
    for area in (1e-60, 0.025, 0.9):
        assert distributions.normal_quantile(area) == pytest.approx(special.ndtri(area), rel=1e-13)


def test_tails_of_f() -> None:
    for one in (1, 3, 17):
        for other in (1.0, 4.5, 300.0):
            for f in (0.0, 0.3, 1.0, 8.0, 1000.0):
                expected = special.fdtrc(one, other, f)
                assert distributions.f_tail(one, other, f) == pytest.approx(expected, rel=1e-9)


def test_quantiles_of_chi_squared() -> None:
    for freedom in (0.8, 1.0, 4.4, 60.0, 5000.0):
        for area in (1e-9, 0.025, 0.5, 0.975):
            expected = special.chdtri(freedom, area)
            found = distributions.chi_squared_quantile(freedom, area)
            assert found == pytest.approx(expected, rel=1e-9)


def test_beta_distribution() -> None:
    for a, b, x in ((3.3, 3.3, 0.2), (40.0, 40.0, 0.55), (0.5, 2.0, 1.0)):
        assert distributions.beta_cdf(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-11)
        assert distributions.beta_function(a, b) == pytest.approx(special.beta(a, b), rel=1e-11)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 1.5), (1.0, 3.0), (9.5, 40.0)])
def test_quadrature_is_that_of_jacobi(a: float, b: float) -> None:
    nodes, weights = special.roots_jacobi(12, b - 1, a - 1)
    at, mass = distributions.beta_quadrature(a, b, 12)
    np.testing.assert_allclose(at, (nodes + 1) / 2, rtol=1e-11)
    np.testing.assert_allclose(mass, weights / weights.sum(), rtol=1e-9, atol=1e-14)


def test_arguments_outside_the_domain_are_nan() -> None:
    assert math.isnan(float(distributions.t_cdf(0, 1)))
    assert math.isnan(float(distributions.t_quantile(3, 1.5)))
    assert math.isnan(distributions.f_tail(1, 1, -1))
    assert math.isnan(distributions.chi_squared_quantile(3, 2))
