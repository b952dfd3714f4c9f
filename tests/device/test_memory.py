"""Transparent huge pages of this host, and the memory that hangs on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.errors import RestoreError
from iostudy.settings import kinds
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.transaction import Transaction

pytestmark = [pytest.mark.root, pytest.mark.exclusive("host")]

FOLDER = Path("/sys/kernel/mm/transparent_hugepage")
MIN_FREE = Path("/proc/sys/vm/min_free_kbytes")


def state() -> list[str]:
    return [path.read_text() for path in (FOLDER / "enabled", FOLDER / "defrag", MIN_FREE)]


@pytest.fixture(autouse=True)
def _nothing_stays_changed() -> Iterator[None]:
    if not FOLDER.exists():
        pytest.skip("this kernel has no transparent huge pages")
    before = state()
    yield
    assert state() == before


@pytest.mark.parametrize("name", ["thp.enabled", "thp.defrag"])
def test_every_choice_and_back_with_the_memory_kept_free(name: str) -> None:
    before = state()
    (setting,) = kinds.bind(name, ".")
    for choice in setting.available_values():
        with Transaction() as transaction:
            transaction.apply(*kinds.prepare_changes({setting: choice}))
            assert setting.read() == choice
        assert state() == before


def test_a_foreign_choice_is_left_alone() -> None:
    (setting,) = kinds.bind("thp.defrag", ".")
    ours, theirs = [choice for choice in setting.available_values() if choice != setting.read()][:2]
    (change,) = kinds.prepare_changes({setting: ours})
    change.apply()
    try:
        (FOLDER / "defrag").write_text(theirs)
        with pytest.raises(RestoreError, match=f"defrag is {theirs}: another process"):
            change.undo()
    finally:
        change.undo(ConflictPolicy.OVERWRITE)
