"""A FileJob with few words, for the tests of the Rust core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iostudy._native import FileJob

DEFAULTS: dict[str, Any] = {
    "operation": "write",
    "file_bytes": 1 << 20,
    "record_bytes": 1 << 16,
    "direct": False,
    "fsync": False,
    "seed": 1,
}


def job(paths: Sequence[Path | bytes], **options: Any) -> FileJob:
    """The job with defaults for what does not matter."""
    named = [path if isinstance(path, bytes) else str(path) for path in paths]
    return FileJob(named, **(DEFAULTS | options))
