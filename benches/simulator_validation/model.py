"""Predictions of the runs, and the simulated scheduler at the kernel's arrivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benches.simulator_validation import cases
from benches.simulator_validation.agreement import order_agreement, punctual_share
from benches.simulator_validation.cases import Case
from benches.simulator_validation.measurement import Measurement, summarize
from benches.simulator_validation.requests import IssuedRequest
from iostudy._native import DriveModel, FileJob, SimulatedDisk
from iostudy.job import SimulationSetup
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash


def build_disk(drive: Disk | Flash, places: Mapping[str, int]) -> SimulatedDisk:
    """Return a disk with the files where the kernel's file system has them."""
    disk = SimulatedDisk(DriveModel(drive_file.parameters(drive)), 0)
    for path, start in places.items():
        disk.place(path, start, cases.FILE_BYTES)
    return disk


def predict(
    disk: SimulatedDisk, files: Sequence[Path], case: Case, setup: SimulationSetup
) -> Measurement:
    """Run a case on the virtual clock."""
    [(rounds, _)], *_ = disk.run([FileJob(case.spec(files, setup.seed))], setup)
    [(result, *_)] = rounds
    return summarize(result, case.record_bytes)


def compare_order(
    disk: SimulatedDisk, issued: Sequence[IssuedRequest], setup: SimulationSetup
) -> tuple[float, float]:
    """Return the agreement of the order of issue, and the share of punctual requests."""
    dispatches = disk.replay([request.recorded for request in issued], setup)
    real = sorted(range(len(issued)), key=lambda index: issued[index].issued)
    start = issued[0].recorded.inserted
    times = dict(dispatches)
    return (
        order_agreement(real, [index for index, _ in dispatches]),
        punctual_share(
            [request.issued - start for request in issued],
            [times[index] for index in range(len(issued))],
        ),
    )
