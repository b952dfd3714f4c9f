"""Rule for a member of a volume that is slower than its peers (pure).

A volume waits for its slowest member, and so does a workload that spreads files over several
disks, such as the rejected data node of report R5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from iostudy.diagnosis.bottleneck import OF_A_SLOW_DEVICE, Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint
from iostudy.diagnosis.evidence import (
    ELASTICITY,
    UTILIZATION,
    Confidence,
    Evidence,
    format_busy,
    format_number,
)
from iostudy.telemetry.summary import Figures, TelemetrySummary

SLOWER = 1.5
"""Wait relative to the median of the peers: a choice, more than healthy members differ."""
UNEVEN = 1.5
"""Requests relative to the median of the peers. Above this the load is uneven and the member need
not be slow. It equals SLOWER: a wait grows at least as fast as the load."""
_KINDS = ("r", "w")
_MINIMUM_SHARE = 0.1
"""Minimum share of reads, or of writes, in a member's requests for a comparison: a choice. A tenth
of the requests hardly changes how long the volume waits."""


def find_slow_members(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find members that were busy and whose requests took far longer than those of their peers.

    Several devices that hold the run's files are peers if their I/O is comparable: a log is no
    peer of the data.

    A disk with platters is no peer of flash: below a cache or next to a journal it is slower by
    design. All members are peers if it is unknown which disks have platters.

    If a member of a slow member is slow itself, it is the cause and the only finding.
    """
    slow: dict[str, Finding] = {}
    for members in context.members.values():
        slow |= _find_slow(members, summary, context)
    slow |= _find_slow(context.devices, summary, context, comparable=True)
    for name, finding in slow.items():
        if slow.keys().isdisjoint(_devices_below(name, context)):
            yield finding


def _find_slow(
    members: Sequence[str],
    summary: TelemetrySummary,
    context: DiagnosisContext,
    *,
    comparable: bool = False,
) -> dict[str, Finding]:
    """Find the slow ones; with ``comparable`` peers must have comparable I/O."""
    disks = {name: summary.devices[name] for name in _replace_by_disks(members, summary, context)}
    return {
        name: finding
        for name, figures in disks.items()
        for finding in _compare_with_peers(
            name, figures, dict(_select_peers(name, disks, context, comparable=comparable))
        )
    }


def _replace_by_disks(
    members: Iterable[str], summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[str]:
    """Return the members, each replaced by its disk if it is on a single one (an LVM leg)."""
    for name in members:
        lower = context.members.get(name, ())
        if len(lower) == 1 and lower[0] in summary.devices:
            yield from _replace_by_disks(lower, summary, context)
        elif name in summary.devices:
            yield name


def _devices_below(name: str, context: DiagnosisContext) -> Iterator[str]:
    for member in context.members.get(name, ()):
        yield member
        yield from _devices_below(member, context)


def _select_peers(
    name: str, members: Mapping[str, Figures], context: DiagnosisContext, *, comparable: bool
) -> Iterator[tuple[str, Figures]]:
    """Return the other members of the same type."""
    rotates, here = _has_platters(name, context), OperatingPoint.from_figures(members[name])
    for other, figures in members.items():
        if other != name and _has_platters(other, context) == rotates:
            point = OperatingPoint.from_figures(figures)
            if not comparable or (here and point and here.is_comparable(point)):
                yield other, figures


def _has_platters(name: str, context: DiagnosisContext) -> bool:
    return not context.rotational.isdisjoint((name, *_devices_below(name, context)))


def _compare_with_peers(
    name: str, figures: Figures, peers: Mapping[str, Figures]
) -> Iterator[Finding]:
    busy = UTILIZATION.grade(figures["%util"])
    compared = [
        comparison
        for kind in _KINDS
        if (comparison := _compare_waits(kind, figures, peers.values()))
    ]
    if busy is None or not compared:
        return
    wait, usual = max(compared, key=lambda waits: waits[0] / waits[1])
    queues = figures["aqu-sz"] + sum(peer["aqu-sz"] for peer in peers.values())
    inside = 100 * figures["aqu-sz"] / queues if queues else 0.0
    if wait >= SLOWER * usual and (slower := ELASTICITY.grade(inside)):
        idle = median(peer["%util"] for peer in peers.values())
        waits = f"{format_number(wait)} ms a request, peers {format_number(usual)} ms"
        evidence = (
            Evidence("await", name, wait, "ms", waits),
            Evidence.read(
                figures, "%util", name, "%", f"busy {{}} % of the time, peers {format_busy(idle)} %"
            ),
        )
        yield Finding(
            Bottleneck.MEMBER,
            name,
            figures["%util"],
            Confidence.lowest(busy, slower),
            evidence,
            explains=OF_A_SLOW_DEVICE,
        )


def _compare_waits(
    kind: str, figures: Figures, peers: Iterable[Figures]
) -> tuple[float, float] | None:
    """Return the wait of reads or writes here and the peers' median; None if not comparable.

    A mirror may serve all reads from one side: reads only compare with reads.
    """
    rate, wait = f"{kind}/s", f"{kind}_await"
    value, active = figures[rate], [peer for peer in peers if peer[rate]]
    if not active or value < _MINIMUM_SHARE * (figures["r/s"] + figures["w/s"]):
        return None
    is_even = value <= UNEVEN * median(peer[rate] for peer in active)
    usual = median(peer[wait] for peer in active)
    return (figures[wait], usual) if is_even and value and usual else None
