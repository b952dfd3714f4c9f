"""Too little memory: work that stood still until pages were free, or came back from swap (pure).

Source: the kernel's Documentation/accounting/psi.rst. kswapd alone, which frees pages while the
work goes on, is no sign of it: every stream through the page cache wakes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.telemetry.limits.diagnosis import Evidence, Finding, Limit
from iostudy.telemetry.limits.grade import Steps, told
from iostudy.telemetry.limits.ground import Ground
from iostudy.telemetry.seen import Figures, Seen

STALLED = Steps(10, 20, 40)
"""Percent of the time in which some task stood still for memory. A choice, well
below the 60 % for 30 s at which systemd-oomd kills by default (oomd.conf(5))."""
SWAPPED = Steps(10, 100, 1000)
"""Pages a second into and out of swap, or processes a second that had to free pages themselves,
where the kernel does not tell its memory pressure. Powers of ten, a choice: for how long each held
the work up is not told."""
_SIGNS = {
    "allocstall/s": "{} times a second a process had to free pages itself",
    "pswpin/s": "{} pages a second from swap",
    "pswpout/s": "{} pages a second into swap",
    "memory_high/s": "{} times a second above the control group's memory.high",
    "oom_kills": "{} processes killed for memory",
}


def find(seen: Seen, ground: Ground) -> Iterator[Finding]:
    """Memory, if work stood still for it."""
    del ground
    machine, signs = seen.machine, tuple(_signs(seen.machine))
    if "memory_some" in machine:
        stalled = told(machine, "memory_some", "", "%", "work stood still for it {} % of the time")
        confidence, held = STALLED.grade(stalled.value), stalled.value
        evidence = (stalled, *signs)
    else:
        swapped = [machine.get(name, 0.0) for name in ("allocstall/s", "pswpin/s", "pswpout/s")]
        confidence, held, evidence = SWAPPED.grade(max(swapped)), None, signs
    if confidence:
        yield Finding(Limit.RECLAIM, "", held, confidence, evidence, explains=(Limit.DEVICE,))


def _signs(machine: Figures) -> Iterator[Evidence]:
    for figure, words in _SIGNS.items():
        if machine.get(figure):
            yield told(machine, figure, "", "", words)
