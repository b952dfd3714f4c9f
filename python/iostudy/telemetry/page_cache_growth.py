"""Growth of the page cache from free memory, and its system time (pure).

A guest whose host takes free memory back must fault it in again. The host serves such a fault in
the middle of an instruction of the guest's kernel, whose clock counts it as system time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iostudy.telemetry.processors import tick_increments
from iostudy.telemetry.samples import Samples, Values, counter_increments, drop_missing, sum_known
from iostudy.telemetry.summary import Figures

_KB_PER_MIB = 1024
_MILLISECONDS = 1e3
_MICROSECONDS = 1e6
_SLOWEST_GROWTH = 10 * _KB_PER_MIB
"""kB/s: slower growth is that of names, journals and programs that start."""


def compute_growth_figures(samples: Samples) -> Figures:
    """Compute ``cache_growth_kB/s`` and ``cache_growth_ms/MiB``; none if unknown.

    Memory counts that left the free pages while as much joined the page cache. The milliseconds are
    system time of all tasks in the intervals of growth. If the workload used less CPU time than
    that, they are multiplied by its share.
    """
    grown_kb = _growth(samples.group("vm"))
    system_ms = _system_time(samples)
    if grown_kb is None or system_ms is None:
        return {}
    figures = {"cache_growth_kB/s": sum_known(grown_kb) / float(samples.seconds[-1])}
    is_growing = grown_kb > _SLOWEST_GROWTH * samples.intervals
    grown_mib = float(grown_kb[is_growing].sum()) / _KB_PER_MIB
    if grown_mib:
        spent = sum_known(system_ms[is_growing]) * _workload_part(samples, sum_known(system_ms))
        figures["cache_growth_ms/MiB"] = spent / grown_mib
    return figures


def _growth(pages: Mapping[str, Values]) -> Values | None:
    """Return the growth in kB of each interval."""
    if not pages.keys() >= {"nr_free_pages", "nr_file_pages"}:
        return None
    taken, joined = -np.diff(pages["nr_free_pages"]), np.diff(pages["nr_file_pages"])
    return np.asarray(np.maximum(0, np.minimum(taken, joined)) * pages["page_kb"][1:])


def _system_time(samples: Samples) -> Values | None:
    """Return the system time in ms of each interval, over all processors."""
    states = samples.group("cpu")
    cores = sum(name.isdecimal() for name in samples.keyed("cpu"))
    if not states or not cores:
        return None
    every = {name: tick_increments(values) for name, values in states.items()}
    system, total = every["system"], sum(every.values())
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(total > 0, system / total, 0.0)
    return np.asarray(share * samples.intervals * cores * _MILLISECONDS)


def _workload_part(samples: Samples, system_ms: float) -> float:
    """Return the largest share of the system time that can be the workload's, 1 if unknown."""
    used = samples.group("workload").get("cpu_us")
    if used is None or not system_ms:
        return 1.0
    own_ms = sum_known(counter_increments(drop_missing(used))) / _MICROSECONDS * _MILLISECONDS
    return min(1.0, own_ms / system_ms) if np.isfinite(own_ms) else 1.0
