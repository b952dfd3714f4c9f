"""docs/method.md shows what the code gives today."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.calibration.table import TABLES, Row, levels, markdown

METHOD = Path(__file__).parents[2] / "docs" / "method.md"


def test_the_levels_in_the_documentation_are_those_of_the_code():
    assert markdown(levels()) in METHOD.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_every_table_in_the_documentation_can_be_repeated(table: Callable[[], list[Row]]):
    assert markdown(table()) in METHOD.read_text()
