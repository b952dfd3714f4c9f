"""A FileJob with few words, for the tests of the Rust core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iostudy._native import FileJob
from iostudy.job import JobSpec

DEFAULTS: dict[str, Any] = {
    "operation": "write",
    "file_bytes": 1 << 20,
    "record_bytes": 1 << 16,
    "seed": 1,
}


def job(paths: Sequence[Path | bytes], **options: Any) -> FileJob:
    """A thread for each path, with defaults for what does not matter; a write creates its files."""
    named: Any = tuple((path if isinstance(path, bytes) else str(path),) for path in paths)
    wanted = DEFAULTS | options
    create = {"create": wanted["operation"] == "write"}
    return FileJob(JobSpec(threads=named, **(create | wanted)))
