"""A fast part of the campaign against locks."""

from __future__ import annotations

import pytest

from tests.attack import locks


@pytest.mark.root
def test_another_user_gains_nothing_by_root_s_locks() -> None:
    for count in locks.run(seconds=2, seed=1):
        assert count.tries
        assert count.failures == []
