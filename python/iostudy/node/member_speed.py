"""Speed of each disk of a volume, measured before the volume is made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from iostudy.node.block_device_prober import open_prober
from iostudy.prober import BLOCK_BYTES, Operation, Prober, Request
from iostudy.settings.scratch import steps
from iostudy.settings.scratch.disk import ScratchDisk
from iostudy.units import KIB, MIB

_ROUNDS = 3
"""Measurements of each disk, in turn. The best counts: a disturbance of the host only slows."""
_SEQUENTIAL_BYTES = 16 * MIB
_RANDOM_REQUESTS, _RANDOM_BYTES, _DEPTH = 100, 4 * KIB, 16
_MARGIN_BYTES = MIB
"""Bytes at both ends that are not touched: signatures are there, and random bytes may look so."""
_FLUSH = Request("flush", 0, 0)


@dataclass(frozen=True)
class MemberSpeed:
    """Rates of a disk alone.

    Sequential requests are near its first block; random ones are of 4 KiB, with 16 in flight.
    Writes include a flush at their end.
    """

    device: str
    read_bytes_per_second: float
    reads_per_second: float
    write_bytes_per_second: float
    writes_per_second: float


def measure_members(disks: Sequence[ScratchDisk]) -> list[dict[str, Any]]:
    """Read and write each disk alone.

    TrialError if that fails; TargetError for another device in its place, or one with a signature.
    """
    rounds = [[_measure(disk, number) for disk in disks] for number in range(_ROUNDS)]
    best = []
    for disk in zip(*rounds, strict=True):
        device, *rates = zip(*map(astuple, disk), strict=True)
        best.append(asdict(MemberSpeed(device[0], *map(max, rates))))
    return best


def _measure(disk: ScratchDisk, number: int) -> MemberSpeed:
    device = disk.device
    with steps.open_verified(device.path, disk.identity) as descriptor:
        steps.require_no_signature(device.path)
        node = steps.descriptor_path(descriptor)
        with open_prober(node, device, write=False) as prober:
            reads = _rates(prober, "read", number)
        with open_prober(node, device, write=True) as prober:
            writes = _rates(prober, "write", number)
    return MemberSpeed(device.name, *reads, *writes)


def _rates(prober: Prober, operation: Operation, number: int) -> tuple[float, float]:
    """Return sequential bytes and random requests per second, in each round at other places."""
    return _sequential_rate(prober, operation, number), _random_rate(prober, operation, number)


def _sequential_rate(prober: Prober, operation: Operation, number: int) -> float:
    """Return bytes per second, one request after the other."""
    size, first, end = prober.most_blocks, *_span(prober)
    length = max(1, min(_SEQUENTIAL_BYTES // BLOCK_BYTES, end - first) // size)
    regions = max(1, (end - first) // (size * length))
    first += number % regions * length * size
    requests = [Request(operation, first + size * index, size) for index in range(length)]
    return length * size * BLOCK_BYTES / _seconds(prober, requests, 1)


def _random_rate(prober: Prober, operation: Operation, number: int) -> float:
    """Return requests per second."""
    size, first, end = max(prober.unit, _RANDOM_BYTES // BLOCK_BYTES), *_span(prober)
    draw = random.Random(number)
    places = [first + draw.randrange((end - first) // size) * size for _ in range(_RANDOM_REQUESTS)]
    requests = [Request(operation, place, size) for place in places]
    return _RANDOM_REQUESTS / _seconds(prober, requests, _DEPTH)


def _span(prober: Prober) -> tuple[int, int]:
    margin = _MARGIN_BYTES // BLOCK_BYTES
    return margin, prober.blocks - margin


def _seconds(prober: Prober, requests: Sequence[Request], depth: int) -> float:
    """Return the time of the requests, for writes with a flush after them."""
    times = prober.run(requests, depth)
    if requests[0].operation == "write":
        times += prober.run([_FLUSH], 1)
    span = max(time.end_ns for time in times) - min(time.start_ns for time in times)
    return max(1, span) / 1e9
