"""A fast part of the campaign against writers, workloads and readers."""

from __future__ import annotations

import pytest

from tests.attack import interrupted

pytestmark = [pytest.mark.child, pytest.mark.process]


def test_nothing_is_left_and_nothing_is_missed() -> None:
    for count in interrupted.run(seconds=2, seed=1):
        assert count.tries
        assert count.failures == []
