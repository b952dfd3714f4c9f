"""The interval that a report shows contains the true difference as often as documented."""

import pytest

from tests.calibration.interval_tables import PARTS, RANGES, SPREADS, missed
from tests.calibration.test_calibration import RISK, allowed

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("studies", [400, pytest.param(40_000, marks=pytest.mark.slow)])
BOUNDS = {"[5, 30]": RISK, "[20, 30]": 1.2 * RISK, "[30, 30]": 1.5 * RISK}


@each_size
@pytest.mark.parametrize("blocks", RANGES)
def test_the_interval_misses_as_often_as_documented(blocks: str, studies: int):
    rates = [missed(RANGES[blocks], sd, part, studies) for sd in SPREADS for part in PARTS.values()]
    assert max(rates) <= allowed(BOUNDS[blocks], studies)
