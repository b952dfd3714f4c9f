"""Error rate of the comparison of two equal studies."""

import pytest

from iostudy.analysis.verdict import Rule
from tests.calibration import two_studies
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import RISK, allowed
from tests.calibration.two_studies import claims
from tests.calibration.two_studies_tables import SIDES

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("pairs", [150, pytest.param(2000, marks=pytest.mark.slow)])
each_side = pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)


@each_size
@each_side
@pytest.mark.parametrize("shape", [shape for shape in NoiseShape if shape is not NoiseShape.AR1])
def test_two_studies_of_the_same(shape: NoiseShape, sides, pairs: int):
    assert claims(shape, sides, pairs).reported <= allowed(RISK, pairs)


@each_size
def test_slow_noise_is_flagged_where_studies_are_long(pairs: int):
    found = claims(NoiseShape.AR1, SIDES["equal"], pairs)
    assert found.any > 0.2
    assert found.reported <= RISK


@pytest.mark.slow
def test_slow_noise_is_not_flagged_where_studies_are_short():
    """A limit of the method, kept in view: see "Two studies" in docs/method.md."""
    assert claims(NoiseShape.AR1, SIDES["opposed, 6 %"], 2000).reported == pytest.approx(
        0.10, abs=0.03
    )


@pytest.mark.slow
def test_the_level_of_a_single_look_would_not_do(monkeypatch):
    once = Rule(margin=0.005, risk=RISK, min_blocks=5, max_blocks=5, comparisons=2)
    monkeypatch.setattr(two_studies, "TOGETHER", once)
    assert claims(NoiseShape.NORMAL, SIDES["opposed, 6 %"], 2000).any > RISK
