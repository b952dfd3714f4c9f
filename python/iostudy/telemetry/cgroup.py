"""What the workload's control group may have, and how long it was held back (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from iostudy.telemetry.devices import NUMBER
from iostudy.telemetry.samples import Samples, Values, known, moved, rate, total
from iostudy.telemetry.seen import Figures


@dataclass(frozen=True)
class _Cap:
    """A cap by the kernel's name, the counter of what counts against it, and their unit in ours."""

    column: str
    counter: str
    units: int


_CAPS = {
    "rkB/s": _Cap("max_rbps", "capped_read_bytes", 1024),
    "wkB/s": _Cap("max_wbps", "capped_written_bytes", 1024),
    "r/s": _Cap("max_riops", "capped_reads", 1),
    "w/s": _Cap("max_wiops", "capped_writes", 1),
}
"""By the figure of a device that is capped."""
_MICROSECONDS = 1e6
_MINOR_BITS = 20


def caps_by_device(samples: Samples) -> Mapping[str, Figures]:
    """The caps that held the workload's group at the end, for each device that had any.

    Beside each, as ``cap_r/s``, what the group that has it moved of the device, as ``capped_r/s``.
    Devices are told by their numbers, in which a cap names them.
    """
    capped = samples.keyed("cgroup")
    if not capped:
        return {}
    return {
        device: caps
        for device, columns in samples.keyed("disk").items()
        if (caps := dict(_caps(capped.get(_number(columns[NUMBER]), {}), samples.seconds)))
    }


def _number(numbers: Values) -> str:
    """``8:0``, of the device that had the name last."""
    number = int(known(numbers)[-1])
    return f"{number >> _MINOR_BITS}:{number & ((1 << _MINOR_BITS) - 1)}"


def _caps(columns: Mapping[str, Values], seconds: Values) -> Iterator[tuple[str, float]]:
    for figure, cap in _CAPS.items():
        if cap.column in columns:
            yield f"cap_{figure}", float(known(columns[cap.column])[-1]) / cap.units
        if cap.counter in columns:
            there = np.isfinite(columns[cap.counter])
            used = rate(columns[cap.counter][there], np.diff(seconds[there]))
            if np.isfinite(used):
                yield f"capped_{figure}", used / cap.units


def cgroup_figures(samples: Samples) -> Figures:
    """``%quota``, the share of the time in which the CPU quota held it back, and memory_high/s.

    The kernel adds up what each processor was held back: more than all of the time is all of it.
    """
    columns, seconds = samples.group("cgroup"), float(samples.seconds[-1])
    figures = {}
    if "throttled_us" in columns:
        held_back = total(moved(known(columns["throttled_us"]))) / _MICROSECONDS
        figures["%quota"] = float(np.minimum(100 * held_back / seconds, 100))
    if "memory_high" in columns:
        figures["memory_high/s"] = total(moved(known(columns["memory_high"]))) / seconds
    return figures
