"""Readings of devices that do what a test says."""

from __future__ import annotations

from datetime import UTC, datetime

from iostudy.telemetry.summary import TelemetrySummary
from iostudy_watch.device_selection import WatchedDevice
from iostudy_watch.live import MachineIdentity, Reading
from iostudy_watch.table import COLUMNS

HOST = MachineIdentity("node7", "Linux", "6.1.0", "x86_64", 40)
MACHINE = {
    "%user": 12.0,
    "%nice": 0.0,
    "%system": 3.0,
    "%iowait": 40.0,
    "%steal": 0.0,
    "%idle": 45.0,
    "io_some": 30.0,
    "cpu_some": 2.0,
    "memory_some": 0.0,
    "dirty_kB": 2048.0,
    "dirty_limit_kB": 4194304.0,
    "writeback_kB": 512.0,
    "%throttled": 0.0,
}
IDLE = dict.fromkeys(COLUMNS, 0.0)


def volume(name: str, called: str, *members: str, disks: tuple[str, ...] = ()) -> WatchedDevice:
    return WatchedDevice(name, called, members, disks or members)


def disk(name: str) -> WatchedDevice:
    return WatchedDevice(name, name)


def reading(devices: list[WatchedDevice], utils: dict[str, float], second: int = 0) -> Reading:
    """A device without a value in ``utils`` has only just come: it has no figures."""
    figures = {name: IDLE | {"%util": util, "w/s": 10 * util} for name, util in utils.items()}
    return Reading(
        datetime(2026, 11, 22, 7, 0, second, tzinfo=UTC),
        HOST,
        TelemetrySummary(1.0, figures, MACHINE),
        {device.name: device for device in devices},
    )


ARRAY = volume("md0", "md/data", "sda1", "sdb1", disks=("sda", "sdb"))
HOME = volume("dm-1", "vg0/home", "md0")
SWAP = volume("dm-0", "vg0/swap", "md0")
STACK = [disk("sda"), disk("sdb"), disk("sdc"), ARRAY, SWAP, HOME]
UTILS = {"sda": 50.0, "sdb": 95.0, "sdc": 1.0, "md0": 70.0, "dm-0": 0.0, "dm-1": 69.0}
