"""Modelled drive on the virtual clock against the same drive as a block device (as root).

``python -m benches.drive_device [PRESET]``. The same requests go to `DriveModel.replay` and to the
block device: random reads with 1 and 32 in flight, and a write with fsync. The goals hold for an
idle machine; a loaded one delays both ways through the kernel.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from mmap import mmap
from pathlib import Path
from statistics import fmean

from iostudy._native import DriveModel
from iostudy.settings.transaction.transaction import Transaction
from iostudy_lab.device.drive import ModelledDrive
from iostudy_lab.device.statistics import DriveStatistics
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash

SIZE_BYTES = 8 << 30
READS, SYNCS, SECONDS = 500, 60, 10
DEPTH = 32
SECTORS = 8
"""Of 512 bytes in a request of 4 KiB."""


def main() -> None:
    """Print a line for each kind of request, and the lateness of the device."""
    preset = sys.argv[1] if len(sys.argv) > 1 else "ultrastar-7k8"
    with tempfile.TemporaryDirectory() as folder, Transaction() as transaction:
        drive = ModelledDrive.prepare(Path(folder), preset, SIZE_BYTES)
        transaction.apply(drive)
        transaction.apply(*drive.tune())
        assert drive.drive is not None
        _report("random read, 1 in flight", *_reads(drive, drive.drive), goal=0.02)
        _report(f"random read, {DEPTH} in flight", *_queued(drive, drive.drive), goal=0.10)
        _report("write and fsync", *_syncs(drive, drive.drive), goal=0.05)
        statistics = DriveStatistics.from_json(drive.read_statistics())
        _print_histogram(statistics)
        print(statistics.invalid_reason() or "lateness is within its limits")


def _report(name: str, virtual_ms: float, device_ms: float, *, goal: float) -> None:
    difference = device_ms / virtual_ms - 1
    print(
        f"{name}: model {virtual_ms:.3f} ms, device {device_ms:.3f} ms, "
        f"difference {difference:+.1%} (goal: within {goal:.0%})"
    )


def _addresses(drive: Disk | Flash, count: int) -> list[int]:
    draw = random.Random(1)
    return [draw.randrange(drive.capacity // SECTORS) * SECTORS for _ in range(count)]


def _replay(drive: Disk | Flash, requests: list[tuple[str, int, int, int]], depth: int) -> float:
    return fmean(DriveModel(drive_file.parameters(drive)).replay(requests, depth)) / 1e6


def _reads(drive: ModelledDrive, model: Disk | Flash) -> tuple[float, float]:
    """Mean response in milliseconds on the virtual clock and of the device."""
    addresses = _addresses(model, READS)
    virtual_ms = _replay(model, [("read", at, SECTORS, 0) for at in addresses], 1)
    return virtual_ms, fmean(_timed(drive, addresses, write=False))


def _syncs(drive: ModelledDrive, model: Disk | Flash) -> tuple[float, float]:
    """Mean time of a write and a flush."""
    addresses = _addresses(model, SYNCS)
    pairs = [(("write", at, SECTORS, 0), ("flush", 0, 0, 0)) for at in addresses]
    virtual_ms = 2 * _replay(model, [request for pair in pairs for request in pair], 1)
    return virtual_ms, fmean(_timed(drive, addresses, write=True))


def _timed(drive: ModelledDrive, addresses: list[int], *, write: bool) -> list[float]:
    page = mmap(-1, SECTORS * 512)
    device = os.open(drive.device.path, os.O_RDWR | os.O_DIRECT)
    try:
        times = []
        for at in addresses:
            began = time.perf_counter()
            if write:
                os.pwritev(device, [page], at * 512)
                os.fsync(device)
            else:
                os.preadv(device, [page], at * 512)
            times.append((time.perf_counter() - began) * 1e3)
        return times
    finally:
        os.close(device)


def _queued(drive: ModelledDrive, model: Disk | Flash) -> tuple[float, float]:
    """Mean response with the queue of the drive full, under ``none``; fio keeps it full."""
    addresses = _addresses(model, 20 * READS)
    virtual_ms = _replay(model, [("read", at, SECTORS, 0) for at in addresses], DEPTH)
    scheduler = Path("/sys/block") / drive.device.name / "queue/scheduler"
    scheduler.write_text("none")
    job = f"--name=x --filename={drive.device.path} --rw=randread --bs=4k --direct=1 --norandommap"
    more = f"--ioengine=libaio --iodepth={DEPTH} --time_based --runtime={SECONDS}"
    command = ["fio", *job.split(), *more.split(), "--output-format=json"]
    latency = json.loads(subprocess.check_output(command))["jobs"][0]["read"]["clat_ns"]
    return virtual_ms, latency["mean"] / 1e6


def _print_histogram(statistics: DriveStatistics) -> None:
    for share in (0.5, 0.9, 0.99, 0.999, 1.0):
        late_us = statistics.lateness_percentile(share) / 1e3
        print(f"lateness, {share:.1%} of completions: at most {late_us:.1f} us")


if __name__ == "__main__":
    main()
