"""Files are taken out of the page cache by their folder, however deep they lie."""

from __future__ import annotations

import mmap
import os

from iostudy.workloads.page_cache import drop_folder
from tests.page_cache import resident_pages


def test_files_below_the_folder_are_forgotten_and_links_are_not_followed(disk_folder):
    ours, theirs = disk_folder / "ours", disk_folder / "theirs"
    for path in (ours / "a", ours / "deep/er/b", theirs / "c"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(4 * mmap.PAGESIZE))
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)  # only clean pages can be dropped
        os.close(descriptor)
    (ours / "link").symlink_to(theirs / "c")
    os.mkfifo(ours / "pipe")
    drop_folder(ours)
    assert resident_pages(ours / "a") == resident_pages(ours / "deep/er/b") == 0
    assert resident_pages(theirs / "c") == 4
