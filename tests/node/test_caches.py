"""What is in the page cache when a trial begins."""

from __future__ import annotations

import os
from pathlib import Path

from iostudy.node import caches
from tests.page_cache import resident_pages

PAGES = 64


def test_programs_are_read_in_again_after_all_was_dropped(tmp_path: Path) -> None:
    program, data = tmp_path / "program", tmp_path / "data"
    for path in (program, data):
        path.write_bytes(bytes(PAGES * 4096))
    os.sync()
    caches.drop([tmp_path])
    caches.read_in([tmp_path / "none", tmp_path, program])
    assert resident_pages(program) == PAGES
    assert resident_pages(data) < PAGES
