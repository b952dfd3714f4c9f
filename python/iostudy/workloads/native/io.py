"""Workload that exposes all options of the native I/O engine, like a fio job."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from iostudy._native import IoStats, JobResult
from iostudy.workloads import open_file_limit
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.directories import (
    find_place,
    make_folder,
    own_folders,
    place_directories,
    place_disks,
    refuse_unfit,
)
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.native.io_options import IoOptions
from iostudy.workloads.native.job_files import build_write_job, run_job, write_files
from iostudy.workloads.native.latency import latency_figures, latency_readings
from iostudy.workloads.native.rates import (
    directions,
    histograms,
    operations,
    rate_figures,
    rate_readings,
    rates,
    require_counted,
)
from iostudy.workloads.native.steady import (
    BUFFERED_READS,
    BUFFERED_WRITES,
    steady_file_run,
    window_names,
    window_percentiles,
)
from iostudy.workloads.windows import SteadyRun
from iostudy.workloads.workload import Place, Workload

_FOLDER = "iostudy-io-"
_SCATTERED = ("random", "zipf")


@dataclass(frozen=True)
class Io(Workload):
    """Jobs with files of their own, below the target or dealt out over several directories."""

    options: IoOptions

    def space_bytes(self) -> int:
        """Return the size of all files; 0 if they are not only in the target."""
        options = self.options
        return 0 if options.directories else options.jobs * options.files * options.size

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        if self.options.duration is None:
            return super().expected_seconds(bytes_per_second)
        return self.options.ramp + self.options.duration

    def reads(self) -> bool:
        """Files that were there before are not in the page cache when a trial begins."""
        return self.options.prepared

    def disks(self) -> frozenset[str]:
        return place_disks(self.options.directories)

    def directories(self) -> tuple[Path, ...]:
        return place_directories(self.options.directories)

    def places(self, place: Place) -> tuple[Path, ...]:
        named = (find_place(name, place) for name in self.options.directories)
        return tuple(named) or (place.directory,)

    def check(self) -> None:
        """Refuse directories that cannot be written to, and more files than can be open."""
        open_file_limit.refuse_impossible(self.options.jobs * self.options.files, "files")
        refuse_unfit(self.directories(), "for the files of io")

    def preparation(self) -> str:
        """Trials with the same files share them, however they move the records."""
        options = self.options
        kind = "full" if options.prepared else "new"
        where = " ".join(options.directories) or "the target"
        return (
            f"{options.jobs} x {options.files} x {options.size}, {options.compressible} "
            f"compressible, {kind}, in {where}"
        )

    def prepare(self, place: Place) -> None:
        if self.options.prepared:
            self._make_folders(place)
            options = self.options
            files = build_write_job(
                self.threads(place), options.size, place.seed, options.compressible
            )
            with open_file_limit.raise_soft_limit():
                write_files(files, place)

    def reset(self, place: Place) -> None:
        """A trial that makes its files finds none."""
        if not self.options.prepared:
            self._make_folders(place)

    def run(self, place: Place) -> Measurement:
        options = self.options
        open_file_limit.require(options.jobs * options.files, "files", place.directory)
        spec = options.spec(self.threads(place), place.seed)
        result = run_job(spec, place, _doing(options))
        counted = operations(result, directions(options.operation), syncs=options.syncs)
        require_counted(counted, place.directory)
        figures = {
            **_readings(options, result),
            **{
                name: value
                for operation, latencies in counted.items()
                for name, value in latency_readings(latencies, f"{operation}_latency").items()
            },
        }
        return Measurement(figures, histograms(counted), notes=_notes(options, result))

    def syncs_apart(self) -> bool:
        return self.options.syncs

    def unsteady_reason(self) -> str:
        """New files are new only once, and the page cache separates records from the device."""
        options = self.options
        if not options.prepared:
            return "new files are written once; overwrite: true writes into the same ones again"
        if options.syncs and not options.sync_every:
            return "its files are synced only at the end of a run; sync_every adds syncs before it"
        if options.direct:
            return ""
        if options.operation != "write":
            return BUFFERED_READS
        return "" if options.dsync or options.syncs else BUFFERED_WRITES

    def steady_run(self, place: Place) -> SteadyRun:
        """Move the records of its files in pass after pass, without ramp, duration and total."""
        options = self.options
        open_file_limit.require(options.jobs * options.files, "files", place.directory)
        return steady_file_run(
            options.spec(self.threads(place), place.seed),
            place,
            _doing(options),
            partial(_window_readings, options),
        )

    def clean(self, place: Place) -> None:
        """Remove the folders with all files, also where another one's cannot be removed."""
        with ExitStack() as cleaning:
            for folder in self.folders(place):
                cleaning.callback(remove, folder)

    def folders(self, place: Place) -> list[Path]:
        """A folder of our own in every directory, of a name that no other place has."""
        return own_folders(self.places(place), place, _FOLDER)

    def threads(self, place: Place) -> tuple[tuple[str, ...], ...]:
        """Return the files of every job, distributed over the folders in turn."""
        folders, files = self.folders(place), self.options.files
        return tuple(
            tuple(
                str(folders[number % len(folders)] / f"job-{job:04d}-file-{number % files:05d}")
                for number in range(job * files, (job + 1) * files)
            )
            for job in range(self.options.jobs)
        )

    def _make_folders(self, place: Place) -> None:
        self.clean(place)
        for folder in self.folders(place):
            make_folder(folder)


_VERBS = {"read": "read", "write": "write", "mix": "read and write"}


def _doing(options: IoOptions) -> str:
    return f"to {_VERBS[options.operation]} the files of the workload"


def _readings(options: IoOptions, result: JobResult) -> dict[str, float]:
    wanted = directions(options.operation)
    figures = rate_readings(result, wanted)
    if options.operation == "mix":
        for direction in wanted:
            figures |= rate_readings(result, [direction], f"{direction}_")
    if not options.ramp:
        records = figures["iops"] * result.wall_seconds
        figures["cpu_per_io"] = result.cpu_seconds / records * 1e6
    if options.arrival != "closed":
        figures["overdue"] = float(result.unissued)
    return figures | {"exec_time": result.wall_seconds, BYTES: float(result.moved_bytes)}


def _window_readings(
    options: IoOptions, stats: Sequence[IoStats], seconds: float
) -> dict[str, float]:
    """Figures of a window from its reads, writes and syncs."""
    wanted = directions(options.operation)
    by_name = dict(zip(("read", "write", "sync"), stats, strict=True))
    figures = rates([by_name[direction] for direction in wanted], seconds)
    if options.operation == "mix":
        for direction in wanted:
            figures |= rates([by_name[direction]], seconds, f"{direction}_")
    for operation in (*wanted, "sync") if options.syncs else wanted:
        figures |= window_percentiles(by_name[operation].latencies, f"{operation}_latency")
    return figures


def _notes(options: IoOptions, result: JobResult) -> tuple[str, ...]:
    notes = [*result.fallbacks]
    passes = result.moved_bytes / (options.jobs * options.files * options.size)
    in_order = options.operation == "read" and options.order not in _SCATTERED
    if in_order and not options.direct and passes > 1:
        notes.append(
            "files were read more than once: the page cache serves later passes of what "
            "it holds; larger files, a shorter duration or direct: true avoid that"
        )
    if result.unissued:
        waiting = f"about {result.unissued} records had arrived and were never begun"
        slow = "the storage is slower than the rate, and latencies grow with the run"
        notes.append(f"{waiting}: {slow}")
    return tuple(notes)


def _figures(options: IoOptions) -> tuple[Figure, ...]:
    """Return all figures of a run with these options, the decisive one first."""
    decides = "iops" if options.order in _SCATTERED else "bandwidth"
    if options.rate is not None:
        decides = f"{directions(options.operation)[0]}_latency_p99"
    return tuple(sorted(_known(options), key=lambda figure: figure.name != decides))


def _known(options: IoOptions) -> list[Figure]:
    wanted = directions(options.operation)
    figures = [*rate_figures("all records")]
    if options.operation == "mix":
        for operation in wanted:
            figures += rate_figures(f"records that were {_PAST[operation]}", f"{operation}_")
    for operation in wanted:
        figures += latency_figures(_LATENCY_OF[operation], f"{operation}_latency")
    if options.syncs:
        figures += latency_figures(f"an {options.sync}", "sync_latency")
    if not options.ramp:
        figures.append(_CPU)
    if options.arrival != "closed":
        figures.append(_OVERDUE)
    return [*figures, _EXEC_TIME, Figure(BYTES, "B", "bytes moved, those of the ramp too", True)]


_PAST = {"read": "read", "write": "written"}
_LATENCY_OF = {
    "read": "a record that is read, with verifying it, from when it was due",
    "write": "a record that is written, with making its data, from when it was due",
}
_CPU = Figure(
    "cpu_per_io",
    "us",
    "processor time of all jobs over the number of records, without that of kernel threads; not "
    "with a ramp",
    False,
)
_OVERDUE = Figure(
    "overdue", "op", "about how many records of an open loop arrived and were never begun", False
)
_EXEC_TIME = Figure("exec_time", "s", "from first start, or the ramp's end, to last end", False)

IO = WorkloadDefinition(
    name="io",
    models="any application by its I/O: operation, order, record size, queue depth, syncs, pace. "
    "Verdicts use latency where a rate is given, else iops for "
    "random and zipf orders and bandwidth for the others",
    not_modelled="computation of the application, except as think time; several processes (all "
    "jobs are threads of one); several kinds of jobs at once (use mix); fio's own "
    "job files (use fio)",
    source="open(2), pread(2), io_uring(7), posix_fadvise(2), fallocate(2), fsync(2)",
    options=IoOptions,
    figures=_figures,
    example={
        "operation": "mix",
        "order": "random",
        "record_size": "4KiB",
        "size": "64MiB",
        "duration": "1s",
    },
    make=Io,
    concurrency_options=("jobs", "depth"),
    # With SQPOLL the thread that polls the device is the kernel's (io_uring_enter(2)).
    spins=lambda options: options.iopoll and not options.sqpoll,
    ticks_bytes=True,
    can_be_simulated=True,
    steady_when="with direct: true, or for writes with dsync or sync_every; a write needs "
    "overwrite: true, and sync needs sync_every; slow_down may change while it runs",
    switchable_options=frozenset({"slow_down"}),
    window_figures=lambda options: window_names(_figures(options), "bandwidth", "iops"),
)
