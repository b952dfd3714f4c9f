"""A modelled drive behind a host that is late."""

from __future__ import annotations

import random

from iostudy.prober import Request, Timing
from iostudy_lab.drives.measure.modelled import ModelProber

_USUAL_NS = 15e3
_RARE_NS = 3e6
_RARE_SHARE = 0.003


class NoisyDrive:
    """Adds an exponential lateness to completions, and rarely milliseconds."""

    def __init__(self, drive, seed=3):
        self._inner = ModelProber(drive)
        self._random = random.Random(seed)
        self.blocks, self.unit = self._inner.blocks, self._inner.unit
        self.most_blocks, self.most_depth = self._inner.most_blocks, self._inner.most_depth

    def run(self, requests, depth):
        late = [self._lateness() for _ in requests]
        before = [0, *late[:-1]]
        delayed = [
            Request(each.operation, each.block, each.blocks, each.idle_ns + delay)
            for each, delay in zip(requests, before, strict=True)
        ]
        times = self._inner.run(delayed, depth)
        return [Timing(s, e + own) for (s, e), own in zip(times, late, strict=True)]

    def _lateness(self):
        rare = self._random.random() < _RARE_SHARE
        return round(self._random.expovariate(1 / (_RARE_NS if rare else _USUAL_NS)))
