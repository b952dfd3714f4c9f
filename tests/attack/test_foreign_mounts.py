"""A fast part of the campaign with FUSE mounts of another user."""

from __future__ import annotations

import pytest

from tests.attack import foreign_mounts

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not foreign_mounts.is_possible(), reason="users cannot mount by FUSE"),
]


def test_a_source_that_another_user_chose_is_no_device() -> None:
    (count,) = foreign_mounts.run(seconds=2, seed=1)
    assert count.tries
    assert count.failures == []
