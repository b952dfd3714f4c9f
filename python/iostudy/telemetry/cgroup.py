"""Caps and throttling of the workload's control group (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from iostudy.telemetry.iostat import NUMBER
from iostudy.telemetry.samples import Samples, Values, drop_missing, mean_rate, total_increment
from iostudy.telemetry.summary import Figures


@dataclass(frozen=True)
class _Cap:
    """A cap: its kernel name, the counter of its I/O, and their unit in the figure's unit."""

    column: str
    counter: str
    units: int


_CAPS = {
    "rkB/s": _Cap("max_rbps", "capped_read_bytes", 1024),
    "wkB/s": _Cap("max_wbps", "capped_written_bytes", 1024),
    "r/s": _Cap("max_riops", "capped_reads", 1),
    "w/s": _Cap("max_wiops", "capped_writes", 1),
}
"""The caps by the device figure that they limit."""
_MICROSECONDS = 1e6
_MINOR_BITS = 20


def compute_caps(samples: Samples) -> Mapping[str, Figures]:
    """Return the caps of the workload's group at the end, for each capped device.

    ``cap_r/s`` is a cap, ``capped_r/s`` the rate of the group with that cap. Caps identify devices
    by number.
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
    """Return the number (``8:0``) of the device that had the name last."""
    number = int(drop_missing(numbers)[-1])
    return f"{number >> _MINOR_BITS}:{number & ((1 << _MINOR_BITS) - 1)}"


def _caps(columns: Mapping[str, Values], seconds: Values) -> Iterator[tuple[str, float]]:
    for figure, cap in _CAPS.items():
        if cap.column in columns:
            yield f"cap_{figure}", float(drop_missing(columns[cap.column])[-1]) / cap.units
        if cap.counter in columns:
            there = np.isfinite(columns[cap.counter])
            used = mean_rate(columns[cap.counter][there], np.diff(seconds[there]))
            if np.isfinite(used):
                yield f"capped_{figure}", used / cap.units


def compute_cgroup_figures(samples: Samples) -> Figures:
    """Compute ``%quota``, ``memory_high/s`` and ``memory_max_hits/s``.

    ``%quota`` is the share of the time in which the CPU quota throttled the group.
    """
    columns, seconds = samples.group("cgroup"), float(samples.seconds[-1])
    figures = {}
    if "throttled_us" in columns:
        figures["%quota"] = 100 * _throttled_share(columns, samples.group("workload"), seconds)
    for limit in {"memory_high", "memory_max_hits"} & columns.keys():
        figures[f"{limit}/s"] = total_increment(columns[limit]) / seconds
    return figures


def _throttled_share(
    columns: Mapping[str, Values], workload: Mapping[str, Values], seconds: float
) -> float:
    """Return the mean share of time (0 to 1) in which a processor of the group was throttled.

    The kernel sums throttled time over the processors on which the group was runnable
    (unthrottle_cfs_rq() of its kernel/sched/fair.c). Used plus throttled time per second estimates
    the number of these processors, at least one. CPU time of others is unknown, so that the true
    share may be larger. The share is at most that of the periods in which the quota ran out, as
    each period refills it.
    """
    throttled, time = total_increment(columns["throttled_us"]), seconds * _MICROSECONDS
    used = columns.get("used_us", workload.get("cpu_us"))
    wanted = throttled + (0.0 if used is None else total_increment(used))
    share = throttled / max(time, wanted)
    if columns.keys() >= {"throttled_periods", "period_us"}:
        period_us = float(drop_missing(columns["period_us"])[-1])
        share = min(share, total_increment(columns["throttled_periods"]) * period_us / time)
    return share
