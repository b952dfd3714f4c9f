"""What the workload's control group may have, and how long it was held back (pure)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iostudy.telemetry.devices import NUMBER
from iostudy.telemetry.samples import Samples, Values, known, moved, total
from iostudy.telemetry.seen import Figures

_CAPS = {
    "max_rbps": ("cap_rkB/s", 1024),
    "max_wbps": ("cap_wkB/s", 1024),
    "max_riops": ("cap_r/s", 1),
    "max_wiops": ("cap_w/s", 1),
}
"""Figures of caps by the kernel's names, and how many of its units are one of ours."""
_MICROSECONDS = 1e6
_MINOR_BITS = 20


def caps_by_device(samples: Samples) -> Mapping[str, Figures]:
    """The caps that held the workload's group at the end, for each device that had any.

    Devices are told by their numbers, in which a cap names them.
    """
    capped = samples.keyed("cgroup")
    if not capped:
        return {}
    return {
        device: caps
        for device, columns in samples.keyed("disk").items()
        if (caps := _caps(capped.get(_number(columns[NUMBER]), {})))
    }


def _number(numbers: Values) -> str:
    """``8:0``, of the device that had the name last."""
    number = int(known(numbers)[-1])
    return f"{number >> _MINOR_BITS}:{number & ((1 << _MINOR_BITS) - 1)}"


def _caps(columns: Mapping[str, Values]) -> Figures:
    return {
        figure: float(known(columns[name])[-1]) / units
        for name, (figure, units) in _CAPS.items()
        if name in columns
    }


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
