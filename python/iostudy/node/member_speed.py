"""Speed of each disk of a volume, measured before the volume is made."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from iostudy.drives.measure.prober import Prober, Request
from iostudy.drives.quantities import BLOCK_BYTES
from iostudy.host.devices import BlockDevice
from iostudy.node.block_device_prober import open_prober
from iostudy.units import KIB, MIB

_SEQUENTIAL_BYTES = 32 * MIB
_RANDOM_READS, _RANDOM_BYTES, _DEPTH = 200, 4 * KIB, 16


@dataclass(frozen=True)
class MemberSpeed:
    """Read rates of a disk alone.

    Sequential reads begin at its first block; random reads are of 4 KiB, with 16 in flight.
    """

    device: str
    read_bytes_per_second: float
    reads_per_second: float


def measure_members(members: Iterable[BlockDevice]) -> list[dict[str, Any]]:
    """Read from each disk alone; TrialError if one cannot be read."""
    return [asdict(_measure(member)) for member in members]


def _measure(device: BlockDevice) -> MemberSpeed:
    with open_prober(device.path, device, write=False) as prober:
        return MemberSpeed(device.name, _sequential_rate(prober), _random_rate(prober))


def _sequential_rate(prober: Prober) -> float:
    size = prober.most_blocks
    number = max(1, min(_SEQUENTIAL_BYTES // BLOCK_BYTES, prober.blocks) // size)
    times = prober.run([Request("read", size * index, size) for index in range(number)], 1)
    return number * size * BLOCK_BYTES * 1e9 / max(1, times[-1].end_ns - times[0].start_ns)


def _random_rate(prober: Prober) -> float:
    size = max(prober.unit, _RANDOM_BYTES // BLOCK_BYTES)
    draw = random.Random(1)
    places = (draw.randrange(prober.blocks // size) * size for _ in range(_RANDOM_READS))
    times = prober.run([Request("read", place, size) for place in places], _DEPTH)
    span = max(each.end_ns for each in times) - min(each.start_ns for each in times)
    return _RANDOM_READS * 1e9 / max(1, span)
