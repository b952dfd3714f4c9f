"""A fast part of the campaign against files of the user's choice, and every command's option."""

from __future__ import annotations

import pytest

from tests.attack import outputs
from tests.attack.outputs import PLANS, WRITES

pytestmark = pytest.mark.root


@pytest.mark.parametrize("insist", [False, True], ids=["checked", "waived"])
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.__name__)
def test_no_file_of_root_is_written(plan, *, insist) -> None:
    for write in WRITES:
        assert outputs.attempt(plan, write, insist=insist) == ""
