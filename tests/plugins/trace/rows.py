"""Rows of traces for tests."""

from __future__ import annotations

from collections.abc import Sequence

from arro3.core import Array, RecordBatch

from iostudy_trace.events import BlockEvent
from iostudy_trace.trace_file import SCHEMA


def row(
    time_ns: int,
    event: str,
    sector: int = 0,
    sectors: int = 8,
    flags: str = "R",
    pid: int = 1,
    device: str | None = "sda",
) -> BlockEvent:
    """An event at one place; a read unless ``flags`` say otherwise."""
    return BlockEvent(time_ns, event, device, sector, sectors * 512, flags, pid, "dd", 0, 0)


def lost(time_ns: int, count: int) -> BlockEvent:
    """A place at which events were lost."""
    return BlockEvent(time_ns, "lost", None, None, None, "", -1, "", -1, count)


def batch(events: Sequence[BlockEvent]) -> RecordBatch:
    """The events as the recorder writes them."""
    columns = zip(BlockEvent._fields, zip(*events, strict=True), strict=True)
    arrays = {name: Array(list(own), SCHEMA.field(name).type) for name, own in columns}
    return RecordBatch(arrays, schema=SCHEMA)
