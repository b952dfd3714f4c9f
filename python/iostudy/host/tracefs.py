"""The kernel's trace file system: where it is, and what keeps it from telling of block requests.

Source: Documentation/trace/ftrace.rst, "The File System".
"""

from __future__ import annotations

import os
from pathlib import Path

from iostudy.host.files import ROOT

BLOCK_EVENTS = ("block_rq_issue", "block_rq_requeue", "block_rq_complete")
"""What happens to a request between the block layer and a driver."""

USUAL = Path("sys/kernel/tracing")
# The kernel mounts it there by itself wherever debugfs is mounted.
_BELOW_DEBUGFS = Path("sys/kernel/debug/tracing")


def find(root: Path = ROOT) -> Path | None:
    """Where it is mounted and can be looked into; None if that is nowhere."""
    places = (root / USUAL, root / _BELOW_DEBUGFS)
    return next((place for place in places if os.access(place / "instances", os.X_OK)), None)


def lacks_block_events(folder: Path) -> tuple[str, ...]:
    """The events of `BLOCK_EVENTS` that the kernel does not offer there."""
    block = folder / "events/block"
    return tuple(name for name in BLOCK_EVENTS if not (block / name / "format").exists())
