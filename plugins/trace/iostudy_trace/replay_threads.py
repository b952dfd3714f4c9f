"""Bios of a trace as threads of a replay (pure)."""

from __future__ import annotations

from iostudy.job import TracedBio
from iostudy_trace.dependences import DependentBio, infer_dependences
from iostudy_trace.events import SECTOR_BYTES
from iostudy_trace.matching import MatchedTrace
from iostudy_trace.operation import Operation, is_sync


def build_replay_threads(trace: MatchedTrace, device: str) -> list[list[TracedBio]]:
    """Return the bios of the device by thread, with their inferred dependences.

    Discards are left out: no simulated drive knows them.
    """
    bios = [
        bio for bio in trace.bios if bio.device == device and bio.operation is not Operation.DISCARD
    ]
    start = min((bio.queued_ns for bio in bios), default=0)
    threads = infer_dependences(bios, start)
    return [[_convert(own) for own in thread] for thread in threads.values()]


def _convert(own: DependentBio) -> TracedBio:
    return TracedBio(
        start=own.bio.sector,
        sectors=own.bio.bytes // SECTOR_BYTES,
        is_read=own.bio.operation is Operation.READ,
        is_sync=is_sync(own.bio.flags),
        flushes=own.bio.flags.startswith("F"),
        after=own.after,
        delay_ns=own.delay_ns,
    )
