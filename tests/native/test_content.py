"""Tests of job data, which neither compress nor deduplicate."""

from __future__ import annotations

import bz2
import zlib
from pathlib import Path

from tests.native.jobs import job

BLOCK = 4096
BTRFS_EXTENT = 128 << 10
FILE_BYTES = 4 << 20


def written(folder: Path, seed: int = 1) -> list[bytes]:
    paths = [folder / "a", folder / "b"]
    job(paths, file_bytes=FILE_BYTES, record_bytes=1 << 20, seed=seed).run()
    return [path.read_bytes() for path in paths]


def test_no_two_blocks_are_equal(tmp_path: Path) -> None:
    files = written(tmp_path, seed=1) + written(tmp_path, seed=2)
    data = b"".join(files)
    blocks = {data[start : start + BLOCK] for start in range(0, len(data), BLOCK)}
    assert len(blocks) == 4 * FILE_BYTES / BLOCK


def test_nothing_compresses(tmp_path: Path) -> None:
    data = written(tmp_path)[0]
    assert len(zlib.compress(data, 6)) > 0.999 * len(data)
    for start in range(0, 4 * BTRFS_EXTENT, BTRFS_EXTENT):
        extent = data[start : start + BTRFS_EXTENT]
        assert len(bz2.compress(extent)) > 0.999 * len(extent)


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    assert written(tmp_path) == written(tmp_path)
