"""The kernel's trace file system: its mount point and its block events.

Source: Documentation/trace/ftrace.rst, "The File System".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iostudy.host.files import ROOT

BLOCK_EVENTS = ("block_rq_issue", "block_rq_requeue", "block_rq_complete")
"""Events of a request between the block layer and a driver."""

BIO_EVENT = "block_bio_queue"
"""Submission of a bio. Unlike a request's, its thread is the one that caused the I/O."""

EVENTS_WITHOUT_DEVICE = ("block_plug", "block_unplug")
"""Events of a thread, which no filter can attribute to a device."""

DEFAULT_PATH = Path("sys/kernel/tracing")
# The kernel mounts it there by itself wherever debugfs is mounted.
_BELOW_DEBUGFS = Path("sys/kernel/debug/tracing")


def find_tracefs(root: Path = ROOT) -> Path | None:
    """Find its accessible mount point, or None."""
    places = (root / DEFAULT_PATH, root / _BELOW_DEBUGFS)
    return next((place for place in places if os.access(place / "instances", os.X_OK)), None)


def find_missing_events(folder: Path, events: Sequence[str] = BLOCK_EVENTS) -> tuple[str, ...]:
    """Return the block events that the kernel lacks."""
    block = folder / "events/block"
    return tuple(name for name in events if not (block / name / "format").exists())
