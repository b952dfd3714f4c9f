"""Dependences of bios on completions of their thread, inferred from a trace (pure).

A thread submits its bios in their order. A bio waits until as many of the thread's bios have
completed as had completed when it was queued, and then for its delay: the time that passed between
that completion, or the previous queueing if it was later, and its own queueing. This is the
think-time model of closed-loop replay (Mesnier et al., //TRACE, FAST 2007, "think-limited"; the
parents of a request in Haghdoost et al., hfplayer, FAST 2017, are completions before it, too).
Completions count, and not single bios, because a thread with several bios under way, such as one
of io_uring(7), continues with whichever completes. Dependences between threads are not inferred.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from iostudy_trace.matching import Bio


@dataclass(frozen=True)
class DependentBio:
    """A bio, the number of its thread's completions that it waits for, and its delay then."""

    bio: Bio
    after: int
    delay_ns: int


def infer_dependences(bios: Iterable[Bio], start_ns: int) -> Mapping[int, tuple[DependentBio, ...]]:
    """Return the bios of each thread by its id, in the order of their queueing.

    The first bio of a thread is delayed from ``start_ns`` on.
    """
    threads: dict[int, list[Bio]] = defaultdict(list)
    for bio in sorted(bios, key=lambda bio: bio.queued_ns):
        threads[bio.pid].append(bio)
    return {pid: tuple(_infer_thread(thread, start_ns)) for pid, thread in threads.items()}


def _infer_thread(bios: Sequence[Bio], start_ns: int) -> Iterable[DependentBio]:
    completions = sorted(bio.completed_ns for bio in bios if bio.completed_ns is not None)
    previous = start_ns
    for bio in bios:
        after = bisect_right(completions, bio.queued_ns)
        since = max(previous, completions[after - 1]) if after else previous
        yield DependentBio(bio, after, bio.queued_ns - since)
        previous = bio.queued_ns
