"""docs/method/calibration.md has the tables that `make calibrate` makes."""

import re
from collections.abc import Callable

import pytest

from tests.calibration.rows import PAGE, PLACE, Row, markdown, placed
from tests.calibration.verdict_tables import levels, spending


@pytest.mark.parametrize("table", [levels, spending])
def test_the_levels_in_the_documentation_are_those_of_the_code(
    table: Callable[[], list[Row]],
) -> None:
    page = PAGE.read_text()
    assert placed(page, table.__name__, markdown(table())) == page


def test_every_table_has_its_place_and_no_place_is_without_one() -> None:
    from tests.calibration.table import TABLES  # screenings take long to import

    places = re.findall(PLACE.format(name="(.*)"), PAGE.read_text())
    assert sorted(places) == sorted(TABLES)


def test_a_table_takes_the_place_of_the_one_before() -> None:
    page = "before\n\n<!-- calibration: rates -->\n| a |\n| --- |\n| 1 |\n\nafter |\n"
    table = markdown([("a",), ("2",)])
    assert placed(page, "rates", table) == page.replace("1", "2")


def test_a_table_without_a_place_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 places for rates"):
        placed("nothing", "rates", "")
