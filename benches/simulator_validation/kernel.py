"""Runs under the kernel, on a modelled drive as a block device."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from benches.simulator_validation import cases, extents, requests
from benches.simulator_validation.cases import Case
from benches.simulator_validation.measurement import Measurement, summarize
from benches.simulator_validation.requests import IssuedRequest
from iostudy._native import FileJob
from iostudy.host.files import read_number, write_attribute
from iostudy.job import JobSpec, SimulationSetup
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.trace_instance import TraceInstance
from iostudy.settings.transaction.transaction import Transaction
from iostudy.workloads.workload import NativeJob, Outcome
from iostudy_lab.device.drive import ModelledDrive
from iostudy_lab.device.queue import read_driver_depth
from iostudy_lab.device.statistics import DriveStatistics
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash
from iostudy_trace.block_trace import BlockTrace
from iostudy_trace.matching import MatchedTrace, match
from iostudy_trace.record import PURPOSE
from iostudy_trace.trace_file import list_events

_CONFIG = Path("/proc/config.gz")
_OWN_FLUSHES = 1
"""Flushes of a job: its fsync."""


@dataclass(frozen=True)
class KernelRun:
    """Figures and requests of a run; ``late`` says how late the drive was, if it was.

    ``flushed`` means that the file system flushed the drive for reasons of its own.
    """

    figures: Measurement
    requests: tuple[IssuedRequest, ...]
    late: str
    flushed: bool


@dataclass(frozen=True)
class Recording(Generic[Outcome]):
    """Outcome of a job, the trace of its requests, and the drive's statistics of its time."""

    outcome: Outcome
    trace: MatchedTrace
    drive: DriveStatistics


@dataclass(frozen=True)
class Kernel:
    """A modelled drive with files, and the trace of its requests."""

    drive: ModelledDrive
    trace: TraceInstance
    files: tuple[Path, ...]

    def run(self, case: Case, scheduler: str, seed: int) -> KernelRun:
        """Run a case under a new instance of the scheduler, with an empty write cache."""
        spec = case.spec(self.files, seed)
        recorded = self.record(FileJob(spec), scheduler)
        return KernelRun(
            summarize(recorded.outcome, case.record_bytes),
            tuple(requests.list_issued(recorded.trace, scheduler)),
            late=recorded.drive.invalid_reason(),
            flushed=recorded.drive.flushes > _OWN_FLUSHES,
        )

    def record(self, job: NativeJob[Outcome], scheduler: str) -> Recording[Outcome]:
        """Run and record a job in the same way, without its files in the page cache."""
        self._choose(scheduler)
        self._drop_files()
        self._flush()
        before = self._statistics()
        with BlockTrace(self.trace.path, self.trace.events, {}) as trace:
            outcome = job.run()
            recorded = match(list_events(trace.read(lambda: True)))
        return Recording(outcome, recorded, self._statistics().since(before))

    def setup(self, scheduler: str, seed: int) -> SimulationSetup:
        """Return the queue as the kernel has it."""
        self._choose(scheduler)
        return SimulationSetup(
            scheduler=scheduler,
            rotational=self.model.rotates,
            seed=seed,
            nr_requests=self._tags(scheduler),
            max_sectors_kb=self._number("max_sectors_kb"),
            read_ahead_kb=self._number("read_ahead_kb"),
            hz=_tick_rate(),
            takes_ahead=True,
            cpus=os.cpu_count() or 1,
        )

    @property
    def model(self) -> Disk | Flash:
        """The drive's parameters."""
        assert self.drive.drive is not None, "the drive is served"
        return self.drive.drive

    def places(self) -> dict[str, int]:
        """Return the first block of each file."""
        return {str(path): extents.first_block(path) for path in self.files}

    def _choose(self, scheduler: str) -> None:
        for name in ("none", scheduler):
            write_attribute(self._queue / "scheduler", name)

    def _drop_files(self) -> None:
        for path in self.files:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)

    def _flush(self) -> None:
        device = os.open(self.drive.device.path, os.O_RDWR)
        try:
            os.fsync(device)
        finally:
            os.close(device)

    def _statistics(self) -> DriveStatistics:
        return DriveStatistics.from_json(self.drive.read_statistics())

    def _tags(self, scheduler: str) -> int:
        """Return the limit of requests. Without a scheduler these are the driver's tags.

        After a change of the scheduler the queue reports the driver's largest number of tags.
        """
        limit = self._number("nr_requests")
        driver = read_driver_depth(self.drive.device.name) if scheduler == "none" else None
        return limit if driver is None else min(limit, driver)

    def _number(self, name: str) -> int:
        number = read_number(self._queue / name)
        assert number is not None, name
        return number

    @property
    def _queue(self) -> Path:
        return Path("/sys/block") / self.drive.device.name / "queue"


@contextmanager
def prepare(folder: Path, model: str, size_bytes: int) -> Iterator[Kernel]:
    """Serve the drive, make its files and trace its requests.

    The files stay open, so that no run reads their inodes.
    """
    with Transaction() as made, ExitStack() as opened:
        drive = ModelledDrive.prepare(folder, model, size_bytes)
        made.apply(drive)
        made.apply(*drive.tune())
        # The simulator has no journal. Commits of one would flush the drive.
        filesystem = Filesystem("ext4", journal="off", options="lazytime")
        made.apply(NewFilesystem.prepare(drive, filesystem))
        trace = TraceInstance.prepare([drive.device], PURPOSE)
        made.apply(trace)
        files = _write_files(drive.mount_point)
        for path in files:
            opened.enter_context(path.open("rb"))
        yield Kernel(drive, trace, files)


def _write_files(folder: Path) -> tuple[Path, ...]:
    """Write each file in a folder of its own, which spreads them over the drive."""
    files = [folder / f"folder-{index}" / "file" for index in range(cases.FILES)]
    for index, path in enumerate(files):
        path.parent.mkdir()
        spec = JobSpec(
            threads=((str(path),),),
            operation="write",
            file_bytes=cases.FILE_BYTES,
            record_bytes=1 << 20,
            seed=index,
            create=True,
            allocate=True,
            sync="fsync",
            verify=False,
        )
        FileJob(spec).run()
    return tuple(files)


def _tick_rate() -> int:
    """Return the ticks a second of this kernel (CONFIG_HZ)."""
    setting = re.search(r"^CONFIG_HZ=(\d+)$", gzip.decompress(_CONFIG.read_bytes()).decode(), re.M)
    assert setting, _CONFIG
    return int(setting[1])
