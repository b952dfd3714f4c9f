"""Figures of dirty pages, paused writers, memory reclaim and page cache growth (pure).

A guest whose host takes free memory back must fault it in again. The host serves such a fault in
the middle of an instruction of the guest's kernel, whose clock counts it as system time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iostudy.telemetry.processors import tick_increments
from iostudy.telemetry.samples import (
    Samples,
    Values,
    counter_increments,
    mean_rate,
    sum_known,
    time_weighted_mean,
    total_increment,
)
from iostudy.telemetry.summary import Figures

_RATES = {
    "pgscan_direct": "pgscan_direct/s",
    "pgscan_kswapd": "pgscan_kswapd/s",
    "pgsteal_direct": "pgsteal_direct/s",
    "allocstall": "allocstall/s",
    "pswpin": "pswpin/s",
    "pswpout": "pswpout/s",
    "pgmajfault": "majflt/s",
}
"""Figures of counters in /proc/vmstat, by the kernel's names and sar's."""


def compute_memory_figures(samples: Samples) -> Figures:
    """Compute figures of dirty memory, reclaim, swap and available memory; NaN if unknown."""
    pages = samples.group("vm")
    figures = _dirty(pages, samples.intervals)
    for counter in _RATES.keys() & pages.keys():
        figures[_RATES[counter]] = mean_rate(pages[counter], samples.intervals)
    if "oom_kill" in pages:
        figures["oom_kills"] = sum_known(counter_increments(pages["oom_kill"]))
    if (available := samples.group("memory").get("available_kb")) is not None:
        figures["available_min_kB"] = float(np.nanmin(available))
    return figures


def _dirty(pages: Mapping[str, Values], seconds: Values) -> dict[str, float]:
    if not pages.keys() >= {"nr_dirty", "nr_writeback"}:
        return {}
    page_kb = pages["page_kb"]
    dirty_kb, writeback_kb = pages["nr_dirty"] * page_kb, pages["nr_writeback"] * page_kb
    figures = {
        "dirty_kB": time_weighted_mean(dirty_kb, seconds),
        "dirty_max_kB": float(np.nanmax(dirty_kb)),
        "writeback_kB": time_weighted_mean(writeback_kb, seconds),
    }
    if pages.keys() >= {"nr_dirty_threshold", "nr_dirty_background_threshold"}:
        limit_kb = pages["nr_dirty_threshold"] * page_kb
        ceiling_kb = freerun_ceiling(limit_kb, pages["nr_dirty_background_threshold"] * page_kb)
        # Limits may be 0: every writer is paused then.
        reached = (dirty_kb + writeback_kb) / np.maximum(ceiling_kb, page_kb)
        figures |= {
            "dirty_limit_kB": time_weighted_mean(limit_kb, seconds),
            "%dirty": 100 * time_weighted_mean(reached, seconds),
            "%throttled": 100
            * time_weighted_mean(np.where(np.isnan(reached), np.nan, reached >= 1), seconds),
        }
    return figures


def freerun_ceiling(limit: Values, background: Values) -> Values:
    """Return the dirty and writeback memory from which on the kernel pauses writers.

    Half way between ``vm.dirty_background_*`` and ``vm.dirty_*`` (balance_dirty_pages() of the
    kernel's mm/page-writeback.c). The kernel may give a slow device less.
    """
    return (limit + background) / 2


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
    own_ms = total_increment(used) / _MICROSECONDS * _MILLISECONDS
    return min(1.0, own_ms / system_ms) if np.isfinite(own_ms) else 1.0
