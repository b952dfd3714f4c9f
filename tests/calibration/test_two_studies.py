"""Error rate of the comparison of two studies of equal effects."""

import pytest

from iostudy.analysis.rule import Rule
from tests.calibration import two_studies
from tests.calibration.simulation import NoiseShape
from tests.calibration.test_calibration import RISK, allowed
from tests.calibration.two_studies import false_claims
from tests.calibration.two_studies_tables import SIDES

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("pairs", [150, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)
@pytest.mark.parametrize("shape", NoiseShape)
def test_two_studies_of_equal_effects(shape: NoiseShape, sides, pairs: int):
    assert false_claims(shape, sides, pairs) <= allowed(RISK, pairs)


@pytest.mark.slow
def test_the_level_of_a_single_look_would_not_do(monkeypatch):
    once = Rule(margin=0.005, risk=RISK, min_blocks=5, max_blocks=5)
    monkeypatch.setattr(two_studies, "TOGETHER", once)
    assert false_claims(NoiseShape.NORMAL, SIDES["opposed, 6 %"], 2000) > RISK
