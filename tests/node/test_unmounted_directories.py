"""Warning of a compared directory in the root file system, where a mount may be missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.host.mounts import Mount, find_mount
from iostudy.node import level_warnings
from tests.study.files import read
from tests.study.test_directories import STUDY


def test_a_directory_in_the_root_file_system_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local, nfs = tmp_path / "local", tmp_path / "nfs"
    local.mkdir()
    nfs.mkdir()

    def find(path: Path) -> Mount:
        return replace(find_mount(path), point=Path("/") if path == nfs else path)

    monkeypatch.setattr(level_warnings, "find_mount", find)
    study = read(STUDY.replace("/data", str(local)).replace("/mnt/nfs", str(nfs)))
    assert level_warnings.find_level_warnings(study, (local, nfs)) == (
        f"nfs ({nfs}) is in the root file system: is its own file system mounted?",
    )
