"""One try of the attacks on folders and scratch devices that once succeeded nearly always."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import folders, scratch_disk
from tests.attack.folders import ATTACKS, Attack
from tests.fixtures_loop import MIB, loop_disk

pytestmark = pytest.mark.root


@pytest.mark.parametrize("options", [(), ("--unsafe-folders",)], ids=["checked", "insisted"])
@pytest.mark.parametrize("attack", ATTACKS[:6], ids=lambda attack: attack.name)
def test_folder_owner_gains_nothing_from_root(attack: Attack, options: tuple[str, ...]) -> None:
    with loop_disk(4 * MIB) as victim:
        assert folders.attempt(attack, options, Path("/dev") / victim) == ""


def test_only_the_confirmed_device_is_destroyed() -> None:
    assert scratch_disk.attempt_prompt() == ""
