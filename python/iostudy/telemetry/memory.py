"""Figures of dirty pages, paused writers and memory reclaim (pure)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iostudy.telemetry.samples import (
    Samples,
    Values,
    counter_increments,
    mean_rate,
    sum_known,
    time_weighted_mean,
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
