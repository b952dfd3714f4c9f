"""Measurement of all parameters of a drive, one group after the other."""

from __future__ import annotations

from iostudy_lab.drives.measure.cache import measure_cache
from iostudy_lab.drives.measure.hits import measure_hits
from iostudy_lab.drives.measure.layout import measure_layout
from iostudy_lab.drives.measure.queue_gain import measure_queue
from iostudy_lab.drives.measure.rates import measure_rates
from iostudy_lab.drives.measure.result import DriveMeasurement
from iostudy_lab.drives.measure.rotation import Rotation, measure_rotation
from iostudy_lab.drives.measure.seeks import measure_seeks
from iostudy_lab.drives.measure.session import Session, TimeLimitError
from iostudy_lab.drives.measure.tracks import Angles
from iostudy_lab.drives.measure.writes import measure_writes

_RANDOM_READS = 500


def measure_drive(session: Session, *, write: bool = False) -> DriveMeasurement:
    """Measure a drive; only with ``write`` its blocks are overwritten.

    What the time limit prevents is listed in the result.
    """
    measured = DriveMeasurement(session.prober.blocks, session.prober.unit)
    try:
        _measure(session, measured, write=write)
    except TimeLimitError:
        measured.missing.append(
            f"the time limit of {session.limit_ns / 1e9:.0f} s passed in stage: {session.stage}"
        )
    measured.responses_ns = tuple(session.responses_ns)
    measured.requests = session.requests
    measured.seconds = session.elapsed_ns / 1e9
    return measured


def _measure(session: Session, measured: DriveMeasurement, *, write: bool) -> None:
    measured.rotation = rotation = measure_rotation(session)
    session.begin("random reads")
    reads = session.run([session.random_read() for _ in range(_RANDOM_READS)])
    session.responses_ns += [read.response_ns for read in reads]
    measured.rates = measure_rates(session)
    measured.queue = measure_queue(session)
    if isinstance(rotation, Rotation):
        session.distinct_reads = rotation.distinct_reads
        _measure_mechanics(session, measured, rotation, write=write)
    else:
        measured.missing.append(
            "seeks, zones, segments and flushes: the reads show no rotation, so there is "
            "no mechanism to measure, or something in front of the drive hides it"
        )


def _measure_mechanics(
    session: Session, measured: DriveMeasurement, rotation: Rotation, *, write: bool
) -> None:
    period = rotation.period_ns
    session.begin("hits")
    measured.hits = measure_hits(session, period)
    if measured.hits is None:
        measured.missing.append("read cache: a repeated read takes as long as the first")
    else:
        session.hit_range_ns = measured.hits.range_ns
    angles = Angles(session, period)
    layout = measured.layout = measure_layout(session, angles)
    if layout is None:
        measured.missing.append("zones, seeks and segments: angles of blocks show no tracks")
        return
    if layout.surfaces is None:
        measured.missing.append("surfaces: skews show no common pattern; each track is a cylinder")
    measured.seeks = measure_seeks(session, layout, period)
    if measured.seeks is None:
        measured.missing.append("seeks: no pair of reads had a stable delay")
    if measured.hits is not None:
        measured.cache = measure_cache(session, layout, period)
    if write:
        measured.writes = measure_writes(session, layout, angles)
