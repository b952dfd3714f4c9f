"""Concurrent workload runs in threads of one process: a primary run and background runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event

from iostudy.errors import WorkloadStoppedError
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.tick import Tick

_ASK_SECONDS = 0.05

Span = tuple[float, float]
"""Start and end in seconds of CLOCK_MONOTONIC."""


@dataclass(frozen=True)
class CompletedRun:
    """A run that came to its end, and when it ended (CLOCK_MONOTONIC)."""

    measured: Measurement
    ended: float


@dataclass
class ConcurrentRun:
    """A workload that runs concurrently with others.

    ``run`` executes a round and obeys its tick; ``renew`` restores the initial state for the
    next round. ``rounds`` are the complete ones and ``spans`` the times of all. ``cut_off`` is
    the last value of the tick in a stopped round, None without one.
    """

    run: Callable[[Tick], Measurement]
    renew: Callable[[], None]
    rounds: list[CompletedRun] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    cut_off: int | None = None
    done: int = 0

    def play(self, stop: Event, *, repeat: bool) -> None:
        """Run one round, or repeat until ``stop``, which may cut off the last one."""
        self._round(stop)
        while repeat and not stop.is_set():
            self.renew()
            self._round(stop)

    def _round(self, stop: Event) -> None:
        def tick(done: int) -> bool:
            self.done = done
            return not stop.is_set()

        self.done = 0
        started = time.monotonic()
        try:
            self.rounds.append(CompletedRun(self.run(tick), time.monotonic()))
        except WorkloadStoppedError:
            if not stop.is_set():
                raise
            self.cut_off = self.done
        finally:
            self.spans.append((started, time.monotonic()))


def run_concurrently(
    first: ConcurrentRun, others: Sequence[ConcurrentRun], tick: Tick, *, repeat_others: bool
) -> bool:
    """Run all workloads concurrently; return False if ``tick`` stopped them.

    With ``repeat_others`` the others repeat until the first has ended, and are then stopped. An
    exception of a workload, of ``tick`` or of a signal handler propagates after all workloads
    have stopped. Python runs signal handlers only in the main thread.
    """
    stop = Event()
    players = (first, *others)
    with ThreadPoolExecutor(len(players), thread_name_prefix="mix") as pool:
        try:
            foremost = pool.submit(first.play, stop, repeat=False)
            companions = [pool.submit(other.play, stop, repeat=repeat_others) for other in others]
            futures = [foremost, *companions]
            completed = _attend(futures, [foremost] if repeat_others else futures, players, tick)
        finally:
            stop.set()
    for future in futures:
        future.result()
    return completed


def _attend(
    futures: Sequence[Future[None]],
    awaited: Sequence[Future[None]],
    players: Sequence[ConcurrentRun],
    tick: Tick,
) -> bool:
    """Wait for those ``awaited``; False if ``tick`` says no before. Raises what a player raised."""
    pending = set(futures)
    while any(future in pending for future in awaited):
        ended, pending = wait(pending, timeout=_ASK_SECONDS, return_when=FIRST_COMPLETED)
        for future in ended:
            future.result()
        if not tick(sum(player.done for player in players)):
            return False
    return True


def overlap_share(first: ConcurrentRun, others: Sequence[ConcurrentRun]) -> float:
    """Return the share of the first workload's time in which all others ran too, 0 to 1."""
    common = first.spans
    for other in others:
        common = [
            (max(a, c), min(b, d))
            for a, b in common
            for c, d in other.spans
            if max(a, c) < min(b, d)
        ]
    return _seconds(common) / _seconds(first.spans)


def _seconds(spans: Sequence[Span]) -> float:
    return sum(end - start for start, end in spans)
