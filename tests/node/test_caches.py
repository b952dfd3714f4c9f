"""The page cache at the start of a trial."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.node import caches
from iostudy.workloads import page_cache
from tests.page_cache import resident_pages

PAGES = 64


@pytest.mark.parametrize("dropped", ["files", pytest.param("all", marks=pytest.mark.root)])
def test_programs_are_read_in_again_after_all_was_dropped(disk_folder: Path, dropped: str) -> None:
    """A unit test has no permission to drop the caches of the machine."""
    program, data = disk_folder / "program", disk_folder / "data"
    for path in (program, data):
        path.write_bytes(bytes(PAGES * 4096))
    os.sync()
    assert ("of its files" in caches.drop_caches([disk_folder])) is (dropped == "files")
    caches.preload_files([disk_folder / "none", disk_folder, program])
    assert resident_pages(program) == PAGES
    assert resident_pages(data) < PAGES


def test_vanished_file_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a DataNode's do, which moves blocks that have been written."""
    for name in ("first", "second"):
        (tmp_path / name).touch()
    calls: list[Path] = []

    def gone(path: Path) -> None:
        calls.append(path)
        raise FileNotFoundError(path)

    monkeypatch.setattr(page_cache, "drop_file", gone)
    page_cache.drop_folder(tmp_path)
    assert len(calls) == 2
