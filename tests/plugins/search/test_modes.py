"""Tests of the modes that the plugin registers."""

import pytest

from iostudy.plugins import Mode
from iostudy_search.screening.design import SCREENING
from iostudy_search.search import SEARCH
from tests.test_plugins import check_mode


@pytest.mark.parametrize("mode", [SEARCH, SCREENING])
def test_every_reference_of_a_mode_is_what_it_says(mode: Mode):
    check_mode(mode)
