"""Growth of the page cache from free memory, and its system time."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.telemetry.memory import compute_growth_figures
from iostudy.telemetry.samples import Samples

SECONDS = np.array([0.0, 1.0, 2.0, 3.0])
PAGES = 256
"""Pages of a MiB."""


def figures(free_mib, cached_mib, *, system=(0, 50, 100, 150), workload_ms=None):
    """Ticks are hundredths of two processors."""
    system = np.array(system, float)
    columns = {
        "vm.nr_free_pages": PAGES * np.array(free_mib, float),
        "vm.nr_file_pages": PAGES * np.array(cached_mib, float),
        "vm.page_kb": np.full(4, 4.0),
        "cpu.system": system,
        "cpu.idle": 200 * SECONDS - system,
        **{f"cpu.{core}.{state}": SECONDS for core in (0, 1) for state in ("busy", "idle")},
    }
    if workload_ms is not None:
        columns["workload.cpu_us"] = 1000 * np.array([0, np.nan, np.nan, workload_ms], float)
    return compute_growth_figures(Samples(SECONDS, columns))


def test_growth_is_what_left_the_free_memory_and_joined_the_cache():
    found = figures([1000, 800, 700, 700], [0, 150, 250, 350])
    assert found["cache_growth_kB/s"] == pytest.approx((150 + 100) * 1024 / 3)


def test_the_cost_of_growth_is_the_system_time_of_its_intervals():
    found = figures([1000, 900, 800, 800], [0, 100, 200, 200])
    assert found["cache_growth_ms/MiB"] == pytest.approx((500 + 500) / 200)


def test_system_time_of_others_does_not_count():
    found = figures([1000, 900, 800, 800], [0, 100, 200, 200], workload_ms=300)
    assert found["cache_growth_ms/MiB"] == pytest.approx((500 + 500) * 300 / 1500 / 200)


def test_memory_that_is_reclaimed_for_it_is_no_growth():
    found = figures([10, 10, 10, 10], [0, 100, 200, 300])
    assert found == {"cache_growth_kB/s": 0}


def test_names_and_journals_have_no_cost():
    assert "cache_growth_ms/MiB" not in figures([100, 95, 90, 85], [0, 5, 10, 15])
