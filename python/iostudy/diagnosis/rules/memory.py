"""Too little memory: work that stood still until pages were free, or came back from swap (pure).

Source: the kernel's Documentation/accounting/psi.rst. kswapd alone, which frees pages while the
work goes on, is no sign of it: every stream through the page cache wakes it. What the machine tells
may be another's: a container beside the workload that is at its own limit stands still all the time
and keeps nobody else from anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, told
from iostudy.telemetry.summary import Figures, TelemetrySummary

STALLED = ConfidenceThresholds(10, 20, 40)
"""Percent of the time in which some task stood still for memory. A choice, well
below the 60 % for 30 s at which systemd-oomd kills by default (oomd.conf(5))."""
SWAPPED = ConfidenceThresholds(10, 100, 1000)
"""Pages a second into and out of swap, or times a second that processes had to free pages
themselves, where the kernel does not tell its memory pressure. Powers of ten, a choice: for how
long each held the work up is not told."""
_GROUPS = "group_memory_some"
_AT_ITS_LIMIT = ("memory_high/s", "memory_max_hits/s")
_SWAP = ("pswpin/s", "pswpout/s")
_IO = (*_AT_ITS_LIMIT, *_SWAP, "majflt/s")
"""What keeps devices busy: pages that are written to be free, and read again when they are wanted.
To free others takes no I/O."""
_OWN = (*_AT_ITS_LIMIT, "allocstall/s")
"""What the workload cannot have been spared: its own group at a limit, or a machine so short of
memory that whoever wants some has to free it. The kernel does not count here who is at the limit of
another group (do_try_to_free_pages() of its mm/vmscan.c)."""
_SIGNS = {
    "allocstall/s": "{} times a second a process had to free pages itself",
    "pswpin/s": "{} pages a second from swap",
    "pswpout/s": "{} pages a second into swap",
    "memory_high/s": "{} times a second above the control group's memory.high",
    "memory_max_hits/s": "{} times a second at the control group's limit",
    "oom_kills": "{} processes killed for memory",
}


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Memory, if work stood still for it: that of the workload's group, where it is known."""
    del ground
    machine, signs = seen.machine, tuple(_signs(seen.machine))
    held, evidence = _stalled(machine), signs
    if held is not None:
        confidence = STALLED.grade(held.value)
        evidence = (held, *signs)
    else:
        confidence = SWAPPED.grade(_most(machine, (*_OWN, *_SWAP)))
    if confidence:
        yield Finding(
            Bottleneck.RECLAIM,
            "",
            held.value if held else None,
            at_most(confidence, _known_whose(machine)),
            evidence,
            explains=_caused(machine),
        )


def _stalled(machine: Figures) -> Evidence | None:
    """For how much of the time work stood still; None if the kernel does not tell."""
    if _GROUPS in machine:
        words = "work of its control group stood still for it {} % of the time"
        return told(machine, _GROUPS, "", "%", words)
    if "memory_some" in machine:
        return told(machine, "memory_some", "", "%", "work stood still for it {} % of the time")
    return None


def _known_whose(machine: Figures) -> Confidence:
    """How sure it can be that it was the workload's work that stood still."""
    if _GROUPS in machine:
        return Confidence.HIGH
    own = SWAPPED.grade(_most(machine, _OWN))
    return Confidence.MEDIUM if own else Confidence.LOW


def _caused(machine: Figures) -> tuple[Bottleneck, ...]:
    """What follows from it."""
    return (Bottleneck.DEVICE,) if SWAPPED.grade(_most(machine, _IO)) else ()


def _most(machine: Figures, figures: tuple[str, ...]) -> float:
    return max(machine.get(figure, 0.0) for figure in figures)


def _signs(machine: Figures) -> Iterator[Evidence]:
    for figure, words in _SIGNS.items():
        if machine.get(figure):
            yield told(machine, figure, "", "", words)
