"""What the workload's control group may have, and how long it was held back (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from iostudy.telemetry.devices import NUMBER
from iostudy.telemetry.samples import Samples, Values, known, moved, rate, total
from iostudy.telemetry.summary import Figures


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
    """``%quota``, the share of the time in which the CPU quota held it back, and its memory limits.

    Those are ``memory_high/s`` and ``memory_max_hits/s``.
    """
    columns, seconds = samples.group("cgroup"), float(samples.seconds[-1])
    figures = {}
    if "throttled_us" in columns:
        figures["%quota"] = 100 * _held_back(columns, samples.group("workload"), seconds)
    for limit in {"memory_high", "memory_max_hits"} & columns.keys():
        figures[f"{limit}/s"] = _moved(columns[limit]) / seconds
    return figures


def _held_back(
    columns: Mapping[str, Values], workload: Mapping[str, Values], seconds: float
) -> float:
    """The share of the time (0 to 1) in which a processor's part of the group was held back.

    The kernel adds up the time of each processor on which the group had something to run
    (unthrottle_cfs_rq() of its kernel/sched/fair.c). On how many that was at once is what they used
    and what they were held back, a second; all of the time is what one has at least. What others
    took meanwhile is not known, so that the share may be less. In no case was it held back in more
    periods than it ran out in: what runs out is refilled with the next one.
    """
    held_back, time = _moved(columns["throttled_us"]), seconds * _MICROSECONDS
    used = columns.get("used_us", workload.get("cpu_us"))
    wanted = held_back + (0.0 if used is None else _moved(used))
    share = held_back / max(time, wanted)
    if columns.keys() >= {"throttled_periods", "period_us"}:
        ran_out = _moved(columns["throttled_periods"]) * float(known(columns["period_us"])[-1])
        share = min(share, ran_out / time)
    return share


def _moved(values: Values) -> float:
    """How far a counter moved in all; NaN if it is not known."""
    return total(moved(known(values)))
