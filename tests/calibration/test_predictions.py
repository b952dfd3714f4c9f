"""docs/simulator has the predictions that the code makes today."""

import pytest

from tests.calibration.predictions import PAGE, PLACES, rows, simulate
from tests.calibration.rows import markdown

pytestmark = pytest.mark.campaign


@pytest.mark.slow
@pytest.mark.parametrize(("study", "table"), PLACES.findall(PAGE.read_text()))
def test_a_prediction_of_the_page_is_that_of_the_code(study: str, table: str) -> None:
    assert markdown(rows(simulate(study))) == table
