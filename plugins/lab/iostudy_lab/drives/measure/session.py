"""Requests of a measurement: random blocks, interleaved probes, and the time limit."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from iostudy.prober import Prober, Request, Timing

Result = TypeVar("Result")
Probe = Generator[list[Request], list[Timing], Result]
"""Yields requests that follow each other immediately, receives their times, returns a result."""


class TimeLimitError(Exception):
    """The time limit of the measurement has passed."""


@dataclass
class Session:
    """A prober with its random numbers, its time limit, and what separates hits from misses."""

    prober: Prober
    limit_ns: int
    report: Callable[[str, float], None] = lambda _stage, _share: None
    """Receives the stage and the share of it that is complete."""
    seed: int = 1
    distinct_reads: int = 0
    """Distinct reads after which a cache holds no earlier one."""
    hit_range_ns: tuple[float, float] = (-1.0, -1.0)
    """Response times of reads that a cache serves."""
    requests: int = 0
    stage: str = "rotation"
    responses_ns: list[int] = field(default_factory=list)
    """Response times of random reads, for the histogram."""
    first_ns: int | None = None
    last_ns: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def begin(self, stage: str, share: float = 0.0) -> None:
        """Report the stage of the measurement, and the share of it that is complete."""
        self.stage = stage
        self.report(stage, share)

    def run(self, requests: Sequence[Request], depth: int = 1) -> list[Timing]:
        """Send requests. TimeLimitError once the time limit has passed."""
        if self.elapsed_ns > self.limit_ns:
            raise TimeLimitError
        times = self.prober.run(requests, depth)
        self.requests += len(requests)
        if self.first_ns is None and times:
            self.first_ns = times[0].start_ns
        self.last_ns = max([self.last_ns, *(time.end_ns for time in times)])
        return times

    @property
    def elapsed_ns(self) -> int:
        """Time since the first request."""
        return self.last_ns - (self.last_ns if self.first_ns is None else self.first_ns)

    def align(self, block: float) -> int:
        """Nearest smaller aligned block on the drive."""
        unit = self.prober.unit
        last = self.prober.blocks // unit - 1
        return min(max(0, int(block // unit)), last) * unit

    def read(self, block: float, idle_ns: float = 0) -> Request:
        """Read of the smallest size."""
        return Request("read", self.align(block), self.prober.unit, round(idle_ns))

    def random_read(self) -> Request:
        """Read of the smallest size at a random block."""
        return self.read(self.random.randrange(self.prober.blocks))

    def is_hit(self, timing: Timing) -> bool:
        """Whether a cache served the read."""
        low, high = self.hit_range_ns
        return low <= timing.response_ns <= high

    def interleave(self, stage: str, probes: Sequence[Probe[Result]]) -> list[Result]:
        """Results of probes. Between two steps of a probe the drive serves enough other reads.

        So no probe finds its own blocks in the cache.
        """
        results: dict[int, Result] = {}
        pending = [(index, probe, next(probe)) for index, probe in enumerate(probes)]
        while pending:
            self.begin(stage, 1 - len(pending) / len(probes))
            times = iter(self._round([requests for _, _, requests in pending]))
            following = []
            for index, probe, requests in pending:
                answers = [next(times) for _ in requests]
                try:
                    following.append((index, probe, probe.send(answers)))
                except StopIteration as stop:
                    results[index] = stop.value
            pending = following
        return [results[index] for index in range(len(probes))]

    def _round(self, steps: list[list[Request]]) -> list[Timing]:
        """Times of one step of each probe, after random reads that fill the round.

        Each step counts as one distinct read, since its others may be hits.
        """
        wanted = [request for step in steps for request in step]
        fill = [self.random_read() for _ in range(self.distinct_reads - len(steps))]
        times = self.run([*fill, *wanted])
        self.responses_ns += [time.response_ns for time in times[: len(fill)]]
        return times[len(fill) :]
