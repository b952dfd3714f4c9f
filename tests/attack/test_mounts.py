"""A fast part of the campaign against file systems of other users."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.host.mounts import find_mounts_at
from iostudy.settings import commands
from iostudy.settings.temporary_mount import TemporaryMount
from tests.attack import mounts

pytestmark = pytest.mark.root


def test_a_users_file_system_gives_no_rights() -> None:
    for count in mounts.run(seconds=2, seed=1):
        assert count.tries
        assert count.failures == []


def test_a_mount_without_the_protection_is_unmounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is every mount of a program, such as mount.TYPE, that ignores nosuid and nodev."""
    tools = mounts.leave_out_protection(tmp_path)
    monkeypatch.setattr(commands, "SEARCH_PATH", f"{tools}{os.pathsep}{commands.SEARCH_PATH}")
    point = tmp_path / "point"
    point.mkdir()
    change = TemporaryMount.prepare(point, "own", "tmpfs", "")
    with pytest.raises(TargetError, match="without nodev,nosuid"):
        change.apply()
    assert find_mounts_at(point) == ()
