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
    return [[_convert(request) for request in thread] for thread in threads.values()]


def _convert(dependent: DependentBio) -> TracedBio:
    return TracedBio(
        start=dependent.bio.sector,
        sectors=dependent.bio.bytes // SECTOR_BYTES,
        is_read=dependent.bio.operation is Operation.READ,
        is_sync=is_sync(dependent.bio.flags),
        flushes=dependent.bio.flags.startswith("F"),
        after=dependent.after,
        delay_ns=dependent.delay_ns,
    )
