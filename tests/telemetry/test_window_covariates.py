"""Covariates of windows, interpolated between samples."""

import numpy as np
import pytest

from iostudy.telemetry.covariates import Covariate, compute_window_covariates
from iostudy.telemetry.samples import Samples

NAN = float("nan")
BEGAN = 1_700_000_000.0


def recorded(**columns):
    """Samples at 0, 1 and 2 s of two processors, with these columns."""
    known = {
        "clock.realtime_ns": [1e9 * (BEGAN + second) for second in range(3)],
        "cpu.user": [0, 100, 200],
        "cpu.steal": [0, 0, 100],
        "cpu.0.busy": [0, 50, 100],
        "cpu.1.busy": [0, 50, 100],
        "foreign.cpu_us": [0, NAN, 2e6],
    } | {name.replace("_", ".", 1): values for name, values in columns.items()}
    named = {name: np.array(values, float) for name, values in known.items() if values}
    return Samples(np.array([0.0, 1.0, 2.0]), named)


def computed(samples, *windows):
    starts, ends = BEGAN + np.array(windows).T
    return compute_window_covariates(samples, starts, ends)


def test_a_window_has_the_shares_of_its_own_time():
    found = computed(recorded(), (0.25, 0.75), (1.25, 1.75), (0.5, 1.5))
    assert found[Covariate.STEAL] == pytest.approx([0, 0.5, 1 / 3], abs=1e-6)
    # Processes are scanned less often: the mean of the time between two scans.
    assert found[Covariate.FOREIGN_CPU] == pytest.approx([0.5, 0.5, 0.5])


def test_a_window_outside_the_samples_is_unknown():
    found = computed(recorded(), (-0.5, 0.5), (1.5, 2.5))
    assert all(np.isnan(shares).all() for shares in found.values())


def test_missing_counters_leave_covariates_out():
    without_clock, without_steal = recorded(clock_realtime_ns=()), recorded(cpu_steal=())
    assert computed(without_clock, (0.5, 1.5)) == {}
    assert list(computed(without_steal, (0.5, 1.5))) == [Covariate.FOREIGN_CPU]
    never_scanned = computed(recorded(foreign_cpu_us=[NAN] * 3), (0.5, 1.5))
    assert np.isnan(never_scanned[Covariate.FOREIGN_CPU]).all()
