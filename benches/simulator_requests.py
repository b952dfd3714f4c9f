"""Calls and requests of the native workloads, on a loop-back disk and in the simulator.

    python -m benches.simulator_requests     # as root; 2 minutes

Each workload runs once on a loop-back disk with ext4, after its preparation was written out and
dropped from the page cache. The same options run in the simulator, on a simulated SSD with the
loop device's scheduler and read-ahead. A line has the calls of the threads, the KiB that the device
read and wrote, the KiB of a request, and the flushes: of the kernel, then of the simulator.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benches.scratch import scratch_folder, settle
from iostudy import units
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.parser import parse
from iostudy.workloads import catalog
from iostudy.workloads.measurement import Histogram
from iostudy.workloads.tick import continue_run
from iostudy.workloads.workload import Place
from iostudy_lab.simulation.node import DEVICE, SimulatedNode
from iostudy_lab.study.target import SimulatedTarget

SIZE_BYTES = 4 * units.GIB
STUDY = """\
question: Which requests?
target: {{drive: {{model: ssd-data-centre, size: 48GiB, simulated: true}}}}
factors: {{block.scheduler: [{scheduler}, noop], block.read_ahead_kb: [{read_ahead}]}}
workloads:
  - dfsio-write: {{files: 2, size: 128MiB}}
  - dfsio-read: {{files: 2, size: 128MiB}}
  - teragen: {{rows: 2M}}
  - terasort: {{rows: 2M, memory: 64MiB}}
  - teravalidate: {{rows: 2M}}
  - wordcount: {{size: 256MiB}}
  - wordcount: {{label: wordcount in 16 MiB, size: 256MiB, memory: 16MiB}}
  - nnbench: {{threads: 4, files: 10000}}
  - nnbench: {{label: nnbench of 16 KiB, threads: 2, files: 5000, bytes_to_write: 16KiB}}
  - nnbench: {{label: durable nnbench, threads: 4, files: 500, sync: directory}}
  - nnbench: {{label: durable of 16 KiB, threads: 1, files: 500, bytes_to_write: 16KiB, sync: file}}
  - mrbench: {{jobs: 50}}
  - nnbench: {{label: nnbench of old files, threads: 4, files: 10000, operations: [open_read]}}
"""
_SEED = 7


_COUNTERS = ("reads", "", "sectors_read", "", "writes", "", "sectors_written")
_FLUSHES = 15
"""Field of /sys/block/*/stat (Documentation/block/stat.rst)."""


@dataclass(frozen=True)
class Requests:
    """Calls of a run, and requests of its device."""

    calls: int
    read_kib: float
    written_kib: float
    requests: float
    flushes: float

    def __str__(self) -> str:
        moved = self.read_kib + self.written_kib
        size = moved / self.requests if self.requests else 0.0
        return (
            f"{self.calls:8d} {self.read_kib:8.0f} {self.written_kib:8.0f} {size:5.0f} "
            f"{self.flushes:3.0f}"
        )


def main() -> None:
    """Print two lines for each workload."""
    if os.geteuid() != 0:
        raise SystemExit("needs root: only on a disk of its own are its requests counted alone")
    with scratch_folder(SIZE_BYTES) as folder:
        device = _find_device(folder)
        scheduler = (device / "queue/scheduler").read_text().partition("[")[2].partition("]")[0]
        read_ahead = (device / "queue/read_ahead_kb").read_text().strip()
        text = STUDY.format(scheduler=scheduler, read_ahead=read_ahead)
        study = parse(text, where="bench", name="bench")
        assert isinstance(study.target, SimulatedTarget)
        node = SimulatedNode(study.target, continue_run)
        print(f"ext4 on a loop device, {scheduler}, read_ahead_kb {read_ahead}")
        print("calls, KiB read, KiB written, KiB of a request, flushes")
        for request in study.workloads:
            print(f"{request.label:24s} kernel    {measure(request, folder, device)}", flush=True)
            predicted = predict(node, request, study.configurations()[0])
            print(f"{'':24s} simulator {predicted}", flush=True)


def measure(request: WorkloadRequest, folder: Path, device: Path) -> Requests:
    """Run a workload on the disk."""
    workload = catalog.get(request.name).make(request.options)
    place = Place(folder, _SEED)
    workload.prepare(place)
    workload.reset(place)
    settle(folder)
    before = _counters(device)
    measured = workload.run(place)
    after = _counters(device)
    workload.clean(place)
    moved = {name: after[name] - before[name] for name in before}
    return Requests(
        _calls(measured.latencies),
        moved["sectors_read"] / 2,
        moved["sectors_written"] / 2,
        moved["reads"] + moved["writes"],
        moved["flushes"],
    )


def predict(node: SimulatedNode, request: WorkloadRequest, level: Configuration) -> Requests:
    """Run a workload in the simulator."""
    with node.block(request, _SEED) as block:
        result = block.trial(level)
    figures, seconds = result.telemetry.summary.devices[DEVICE], result.phases["run"]
    return Requests(
        _calls(result.latencies),
        figures["kB_read"],
        figures["kB_wrtn"],
        (figures["r/s"] + figures["w/s"]) * seconds,
        figures["f/s"] * seconds,
    )


def _calls(latencies: Mapping[str, Histogram]) -> int:
    return sum(count for histogram in latencies.values() for _, count in histogram)


def _find_device(folder: Path) -> Path:
    number = folder.stat().st_dev
    return Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()


def _counters(device: Path) -> dict[str, int]:
    fields = [int(field) for field in (device / "stat").read_text().split()]
    known = {name: fields[index] for index, name in enumerate(_COUNTERS) if name}
    return {**known, "flushes": fields[_FLUSHES]}


if __name__ == "__main__":
    main()
