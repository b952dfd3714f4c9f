"""nfsiostat's figures."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.telemetry.network import compute_mount_figures
from iostudy.telemetry.samples import Samples

NAN = float("nan")
SECONDS = np.array([0.0, 1.0, 2.0, 4.0])
COUNTERS = (
    *("operations", "transmissions", "timeouts", "sent_bytes", "received_bytes"),
    *("queue_ms", "rtt_ms", "execute_ms"),
)


def mounted(kinds=("read", "write", "commit", "other"), **counted):
    names = [f"{kind}_{name}" for kind in kinds for name in COUNTERS]
    columns = dict.fromkeys(names, (7, NAN, 7, 7)) | counted
    named = {f"nfs./mnt/a.b.{key}": np.array(values, float) for key, values in columns.items()}
    return compute_mount_figures(Samples(SECONDS, named))


def test_figures_are_nfsiostats():
    mount_figures = mounted(
        read_operations=(0, NAN, 100, 400),
        read_transmissions=(0, NAN, 100, 402),
        read_sent_bytes=(0, NAN, 0, 1024),
        read_received_bytes=(0, NAN, 0, 399 * 1024),
        read_rtt_ms=(0, NAN, 0, 800),
        read_execute_ms=(0, NAN, 0, 1200),
        read_queue_ms=(0, NAN, 0, 200),
        commit_operations=(0, NAN, 0, 40),
        commit_transmissions=(0, NAN, 0, 40),
        commit_execute_ms=(0, NAN, 0, 8000),
        other_operations=(0, NAN, 0, 360),
        other_transmissions=(0, NAN, 0, 366),
        other_rtt_ms=(0, NAN, 0, 1080),
        other_execute_ms=(0, NAN, 0, 1800),
        other_queue_ms=(0, NAN, 0, 36),
    )["/mnt/a.b"]
    expected = {"r/s": 100, "rkB/s": 100, "r_rtt": 2, "r_exe": 3, "r_queue": 0.5, "r_retrans": 2}
    expected |= {"w/s": 0, "w_rtt": 0, "c/s": 10, "c_exe": 200, "ops/s": 200, "%retrans": 1}
    expected |= {"o/s": 90, "o_rtt": 3, "o_exe": 5, "o_queue": 0.1, "o_retrans": 6}
    assert {name: mount_figures[name] for name in expected} == pytest.approx(expected)


def test_rates_are_over_the_time_in_which_it_was_mounted():
    missing = dict.fromkeys(f"read_{name}" for name in COUNTERS)
    counted = dict.fromkeys(missing, (NAN, NAN, 7, 7)) | {"read_operations": (NAN, NAN, 10, 30)}
    assert mounted(**counted)["/mnt/a.b"]["r/s"] == 10


def test_a_server_of_version_2_that_knows_no_commit_has_figures_of_the_rest():
    """Its columns are never put, and so are left out."""
    counted = dict.fromkeys((f"read_{name}" for name in COUNTERS), (0, NAN, 4, 8))
    mount_figures = mounted(("read", "write", "other"), **counted)["/mnt/a.b"]
    assert (mount_figures["r/s"], mount_figures["ops/s"]) == (2, 2)
    assert not [name for name in mount_figures if name.startswith("c")]


def test_mount_with_one_sample_has_no_figures():
    counted = {f"read_{name}": (NAN, 7, NAN, NAN) for name in COUNTERS}
    assert mounted(**counted) == {}
