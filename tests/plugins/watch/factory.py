"""A reading of two devices, one of them a volume."""

from __future__ import annotations

from datetime import UTC, date, datetime

from iostudy.telemetry.iostat import compute_iostat_figures
from iostudy.telemetry.summary import TelemetrySummary
from iostudy_watch.device_selection import WatchedDevice
from iostudy_watch.live import MachineIdentity, Reading
from tests.telemetry.test_iostat import ZERO

HOST = MachineIdentity("node7", "Linux", "6.1.0", "x86_64", 40)
DAY = date(2026, 11, 22)
CPU = {"%user": 1.5, "%nice": 0.0, "%system": 2.25, "%iowait": 90.0, "%steal": 0.0, "%idle": 6.25}


def reading(second: int = 0, machine=CPU) -> Reading:
    moved = ZERO | {"writes": 100, "sectors_written": 409600, "io_ms": 500, "weighted_io_ms": 800}
    devices = {
        "dm-2": WatchedDevice("dm-2", "vg0/home", ("sda",), ("sda",), is_partition=False),
        "sda": WatchedDevice("sda", "sda", (), is_partition=False),
    }
    summary = TelemetrySummary(
        seconds=1.0,
        devices={name: compute_iostat_figures(moved, 1.0) for name in devices},
        machine=machine,
    )
    return Reading(datetime(2026, 11, 22, 7, 0, second, tzinfo=UTC), HOST, summary, devices)
