"""Concurrent workload runs in threads of one process: a primary run and background runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event

from iostudy.errors import WorkloadStoppedError
from iostudy.workloads.definition import Measurement, Tick

_ASK_SECONDS = 0.05

Span = tuple[float, float]
"""From when to when, in seconds of CLOCK_MONOTONIC."""


@dataclass(frozen=True)
class Round:
    """A run that came to its end, and when it ended (CLOCK_MONOTONIC)."""

    measured: Measurement
    ended: float


@dataclass
class ConcurrentRun:
    """One of those that run at the same time.

    ``run`` carries out a round and heeds its tick; ``renew`` makes the next round begin like the
    first one. ``rounds`` are those that came to their end, ``spans`` the times of all, and
    ``cut_off`` is what the round that was stopped had told its tick; None: none was stopped.
    """

    run: Callable[[Tick], Measurement]
    renew: Callable[[], None]
    rounds: list[Round] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    cut_off: int | None = None
    done: int = 0

    def play(self, stop: Event, *, repeat: bool) -> None:
        """One round, or one after another until ``stop``, which may cut the last one off."""
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
            self.rounds.append(Round(self.run(tick), time.monotonic()))
        except WorkloadStoppedError:
            if not stop.is_set():
                raise
            self.cut_off = self.done
        finally:
            self.spans.append((started, time.monotonic()))


def run_concurrently(
    first: ConcurrentRun, others: Sequence[ConcurrentRun], tick: Tick, *, repeat_others: bool
) -> bool:
    """Play all at the same time; False if ``tick`` put an end to it.

    With ``repeat_others`` the others play again and again until the first has ended, and are then
    stopped. Whatever is raised here - by a player, by ``tick``, by the handler of a signal, which
    Python calls in the main thread alone - goes on up when every player has been stopped.
    """
    stop = Event()
    players = (first, *others)
    with ThreadPoolExecutor(len(players), thread_name_prefix="mix") as pool:
        try:
            foremost = pool.submit(first.play, stop, repeat=False)
            companions = [pool.submit(each.play, stop, repeat=repeat_others) for each in others]
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
    """The share of the first player's time during which all the others played too, 0 to 1."""
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
