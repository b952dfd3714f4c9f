"""Random direct reads of 4 KiB on a disk in memory: the load of the benches of tracing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benches.programs import Case, run_engine
from iostudy.job import JobSpec
from iostudy.node import caches
from iostudy.units import MIB

MEMORY = Path("/dev/shm")
FILE_BYTES, DISK_BYTES, RECORD_BYTES = 64 * MIB, 256 * MIB, 4096
SHAPES = ((1, 1), (2, 32))
"""Threads, and records of each that are under way."""


def name_files(folder: Path, threads: int) -> list[Path]:
    """Return a file for each thread."""
    return [folder / f"part-{index}" for index in range(threads)]


def prepare_reads(paths: Sequence[Path], depth: int, seconds: float) -> JobSpec:
    """Write the files; return the job that reads them, a thread for each file."""
    run_engine(Case("write", True, len(paths), FILE_BYTES), list(paths))
    caches.write_dirty_pages()
    return JobSpec(
        threads=tuple((str(path),) for path in paths),
        operation="read",
        file_bytes=FILE_BYTES,
        record_bytes=RECORD_BYTES,
        order="random",
        seconds=seconds,
        method="io_uring",
        depth=depth,
        direct=True,
        seed=0,
    )
