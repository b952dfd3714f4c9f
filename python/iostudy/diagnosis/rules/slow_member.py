"""One device of several, slower than its peers (pure).

Report R5's rejected data node: a volume waits for its slowest member, and so does who spreads files
over disks that have no volume in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from iostudy.diagnosis.bottleneck import Bottleneck, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint
from iostudy.diagnosis.rules.device import BUSY
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number, told
from iostudy.telemetry.summary import Figures, TelemetrySummary

SLOWER = ConfidenceThresholds(1.5, 2, 3)
"""Times as long a wait as the median of the peers: more than good members differ. A choice: with
the last, two thirds of a wait are what the member takes longer than they."""
UNEVEN = 1.5
"""Times as many requests as the median of the peers: the load is uneven, not the member slow. The
same as the least of SLOWER: a wait grows at least as fast as the load does."""
_KINDS = ("r", "w")
_ENOUGH = 0.1
"""Share of a member's requests that its reads or its writes must be to be compared: a choice. What
takes a tenth of them or less hardly moves how long the volume waits."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The members of any volume that were busy and waited for far longer than their peers.

    Devices that files of the run lie on side by side are peers where they are asked for the same: a
    log is no peer of the data beside it.

    A disk with platters is no peer of flash: below a cache or beside a journal it is slower by
    design. Where it is not known which are disks with platters, all members are peers.

    Where a member of such a member is slow itself, that one is the cause and is told alone.
    """
    slow: dict[str, Finding] = {}
    for members in ground.members.values():
        slow |= _slow(members, seen, ground)
    slow |= _slow(ground.devices, seen, ground, alike=True)
    for name, finding in slow.items():
        if slow.keys().isdisjoint(_below(name, ground)):
            yield finding


def _slow(
    members: Sequence[str], seen: TelemetrySummary, ground: DiagnosisContext, *, alike: bool = False
) -> dict[str, Finding]:
    """Those of them that are slower than their peers; ``alike`` ones are asked for the same."""
    known = {name: seen.devices[name] for name in _lowest(members, seen, ground)}
    return {
        name: finding
        for name, figures in known.items()
        for finding in _slower(name, figures, dict(_peers(name, known, ground, alike=alike)))
    }


def _lowest(
    members: Iterable[str], seen: TelemetrySummary, ground: DiagnosisContext
) -> Iterator[str]:
    """The members, each as far down as it is on one device alone: a leg of LVM's is its disk."""
    for name in members:
        lower = ground.members.get(name, ())
        if len(lower) == 1 and lower[0] in seen.devices:
            yield from _lowest(lower, seen, ground)
        elif name in seen.devices:
            yield name


def _below(name: str, ground: DiagnosisContext) -> Iterator[str]:
    for member in ground.members.get(name, ()):
        yield member
        yield from _below(member, ground)


def _peers(
    name: str, known: Mapping[str, Figures], ground: DiagnosisContext, *, alike: bool
) -> Iterator[tuple[str, Figures]]:
    """The other members of like make."""
    own = _has_platters(name, ground)
    for other, figures in known.items():
        is_peer = other != name and _has_platters(other, ground) == own
        if is_peer and (not alike or _are_asked_alike(known[name], figures)):
            yield other, figures


def _are_asked_alike(one: Figures, other: Figures) -> bool:
    mine, theirs = OperatingPoint.of(one), OperatingPoint.of(other)
    return mine is not None and theirs is not None and mine.is_like(theirs)


def _has_platters(name: str, ground: DiagnosisContext) -> bool:
    return not ground.rotational.isdisjoint((name, *_below(name, ground)))


def _slower(name: str, figures: Figures, peers: Mapping[str, Figures]) -> Iterator[Finding]:
    busy = BUSY.grade(figures["%util"])
    compared = [own for kind in _KINDS if (own := _compared(kind, figures, peers.values()))]
    if busy is None or not compared:
        return
    wait, usual = max(compared, key=lambda own: own[0] / own[1])
    if slower := SLOWER.grade(wait / usual):
        idle = median(own["%util"] for own in peers.values())
        waits = f"{number(wait)} ms a request, {number(usual)} at its peers"
        evidence = (
            Evidence("await", name, wait, "ms", waits),
            told(figures, "%util", name, "%", f"busy {{}} % of the time, they {number(idle)} %"),
        )
        yield Finding(
            Bottleneck.MEMBER,
            name,
            figures["%util"],
            at_most(busy, slower),
            evidence,
            explains=(
                Bottleneck.DEVICE,
                Bottleneck.WRITEBACK,
                Bottleneck.LOG,
                Bottleneck.CONCURRENCY,
            ),
        )


def _compared(kind: str, figures: Figures, peers: Iterable[Figures]) -> tuple[float, float] | None:
    """How long reads or writes took here and, in the median, at peers; None if it tells nothing.

    A mirror may serve all reads from one of its sides: reads are held against reads alone.
    """
    rate, wait = f"{kind}/s", f"{kind}_await"
    own, alike = figures[rate], [peer for peer in peers if peer[rate]]
    if not alike or own < _ENOUGH * (figures["r/s"] + figures["w/s"]):
        return None
    even = own <= UNEVEN * median(peer[rate] for peer in alike)
    usual = median(peer[wait] for peer in alike)
    return (figures[wait], usual) if even and own and usual else None
