"""Names of the block events of a trace, and one event.

Source: the formats of ``events/block`` in tracefs; Documentation/trace/events.rst.
"""

from __future__ import annotations

from typing import NamedTuple

BIO_QUEUE = "block_bio_queue"
BIO_SPLIT = "block_split"
BIO_BACK_MERGE, BIO_FRONT_MERGE = "block_bio_backmerge", "block_bio_frontmerge"
ALLOCATE = "block_getrq"
INSERT = "block_rq_insert"
MERGE = "block_rq_merge"
ISSUE = "block_rq_issue"
REQUEUE = "block_rq_requeue"
COMPLETE = "block_rq_complete"
PLUG, UNPLUG = "block_plug", "block_unplug"
LOST = "lost"
"""Marks the place at which the kernel overwrote events before they were read."""

OPTIONAL_EVENTS = (
    BIO_QUEUE,
    BIO_SPLIT,
    BIO_BACK_MERGE,
    BIO_FRONT_MERGE,
    ALLOCATE,
    INSERT,
    MERGE,
    PLUG,
    UNPLUG,
)
"""Events that are recorded where the kernel has them; a trace always has the others."""

SECTOR_BYTES = 512


class BlockEvent(NamedTuple):
    """A row of a trace, with the names of its columns.

    ``device``, ``sector`` and ``bytes`` are None for an event without a device.
    """

    time_ns: int
    event: str
    device: str | None
    sector: int | None
    bytes: int | None
    operation: str
    pid: int
    command: str
    cpu: int
    lost: int
