"""iozone's matrix of file sizes and record sizes, over its operations."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from iostudy import _native, units
from iostudy.errors import WorkloadError
from iostudy.job import JobSpec
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Histogram, Measurement, Part
from iostudy.workloads.native.iozone_matrix import (
    ACCESS_METHODS,
    IozoneOperation,
    MatrixCell,
    build_cells,
    build_job,
    doubling_sizes,
)
from iostudy.workloads.native.job_files import DIRECT_ALIGNMENT
from iostudy.workloads.native.latency import merge_buckets
from iostudy.workloads.option_types import Count, Options, Size, TextList
from iostudy.workloads.workload import Place, Workload

_MEAN = "mean_rate"
_RATE = "rate"


class IozoneOptions(Options):
    """Options of iozone."""

    operations: TextList[IozoneOperation] = Field(
        tuple(IozoneOperation),
        min_length=1,
        description=f"what is timed (iozone: -i): {', '.join(IozoneOperation)}",
    )
    min_file_size: Size = Field(64 * units.KIB, description="smallest file (iozone: -n)")
    max_file_size: Size = Field(
        16 * units.MIB,
        description="largest file, by doubling the smallest (iozone: -g; -a has 512MiB)",
    )
    min_record_size: Size = Field(4 * units.KIB, description="smallest record (iozone: -y)")
    max_record_size: Size = Field(
        16 * units.MIB, description="largest record, by doubling the smallest (iozone: -q)"
    )
    all_records: bool = Field(
        default=False,
        description="records below 64 KiB for files of 32 MiB and more, too (iozone: -z)",
    )
    threads: int = Field(
        1, ge=1, le=4096, description="threads with a file each: throughput mode (iozone: -t)"
    )
    stride: Annotated[Count, Field(ge=2)] = Field(
        17, description="records from one strided read to the next (iozone: -j)"
    )
    direct: bool = Field(default=False, description="O_DIRECT, past the page cache (iozone: -I)")
    include_flush: bool = Field(
        default=False, description="fsync at the end of every write, in the time (iozone: -e)"
    )
    include_close: bool = Field(default=False, description="close, in the time (iozone: -c)")
    sync_writes: bool = Field(
        default=False,
        description="each write returns with its data on the disk: O_DSYNC (iozone: -o, O_SYNC)",
    )

    @model_validator(mode="after")
    def _fits(self) -> IozoneOptions:
        for low, high in (
            ("min_file_size", "max_file_size"),
            ("min_record_size", "max_record_size"),
        ):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{low} is larger than {high}")
        if not self.cells():
            raise ValueError("no record fits into a file; make min_record_size smaller")
        if len(set(self.operations)) < len(self.operations):
            raise ValueError("an operation occurs twice")
        if self.direct and any(
            size % DIRECT_ALIGNMENT for size in (self.min_file_size, self.min_record_size)
        ):
            raise ValueError(
                f"direct I/O needs file and record sizes to be multiples of {DIRECT_ALIGNMENT} "
                "bytes"
            )
        if self.direct and any(ACCESS_METHODS[o].method == "stdio" for o in self.operations):
            raise ValueError(
                "direct I/O goes past the C library: leave fwrite, frewrite, fread and freread out "
                "of operations"
            )
        return self

    def cells(self) -> tuple[MatrixCell, ...]:
        """The matrix."""
        return tuple(
            build_cells(
                self.operations,
                doubling_sizes(self.min_file_size, self.max_file_size),
                doubling_sizes(self.min_record_size, self.max_record_size),
                all_records=self.all_records,
            )
        )


@dataclass(frozen=True)
class _Timed:
    """A cell with the rate of each thread in KiB/s, and of all by the clock of the whole job."""

    cell: MatrixCell
    thread_rates: tuple[float, ...]
    common_rate: float
    bytes: int
    latencies: Sequence[tuple[float, int]]


@dataclass(frozen=True)
class Iozone(Workload):
    """The cells one after the other; every cell's reads find what a write before them has left."""

    options: IozoneOptions

    def space_bytes(self) -> int:
        return self.options.threads * max(cell.file_bytes for cell in self.options.cells())

    def run(self, place: Place) -> Measurement:
        timed: list[_Timed] = []
        moved_bytes = 0
        matrix = self.options.cells()
        for _, group in itertools.groupby(matrix, lambda c: (c.file_bytes, c.record_bytes)):
            for position, cell in enumerate(group):
                if position == 0 and not ACCESS_METHODS[cell.operation].creates:
                    # Untimed: what an operation finds where no write is timed before it.
                    spec = self._spec(place, replace(cell, operation=IozoneOperation.WRITE))
                    moved_bytes += self._job(place, spec, moved_bytes).bytes
                timed.append(self._time(place, cell, moved_bytes))
                moved_bytes += timed[-1].bytes
            self.clean(place)
        return _measured(timed, moved_bytes, self.options)

    def unsteady_reason(self) -> str:
        return "it moves its file once for each cell of a matrix of sizes and operations"

    def clean(self, place: Place) -> None:
        for path in self._paths(place):
            remove(Path(path))

    def _paths(self, place: Place) -> tuple[str, ...]:
        names = (f"iozone-{index:04d}" for index in range(self.options.threads))
        return tuple(str(place.directory / name) for name in names)

    def _time(self, place: Place, cell: MatrixCell, done_bytes: int) -> _Timed:
        result = self._job(place, self._spec(place, cell), done_bytes)
        seconds = [
            records + sync + (close if self.options.include_close else 0.0)
            for _, records, sync, close in result.thread_phases
        ]
        if min(seconds) <= 0:
            size, record = units.format_size(cell.file_bytes), units.format_size(cell.record_bytes)
            raise WorkloadError(
                f"to time {cell.operation} of {size} by {record}",
                found="it took less than the resolution of the clock",
                where=str(place.directory),
                remedy="make min_file_size larger",
            )
        kib = cell.file_bytes / units.KIB
        tally = result.write if ACCESS_METHODS[cell.operation].writes else result.read
        return _Timed(
            cell,
            tuple(kib / duration for duration in seconds),
            kib * len(seconds) / result.wall_seconds,
            result.bytes,
            tally.latencies.histogram_us(),
        )

    def _spec(self, place: Place, cell: MatrixCell) -> JobSpec:
        plain = build_job(cell, self._paths(place), stride=self.options.stride, seed=place.seed)
        writes = plain.operation == "write"
        return replace(
            plain,
            direct=self.options.direct,
            dsync=writes and self.options.sync_writes,
            sync="fsync" if writes and self.options.include_flush else None,
        )

    def _job(self, place: Place, spec: JobSpec, done_bytes: int) -> _native.JobResult:
        with translate_core_errors(f"to {spec.operation} the files of the matrix", place.directory):
            return _native.FileJob(spec).run(lambda bytes_: place.tick(done_bytes + bytes_))


def _measured(timed: Sequence[_Timed], moved_bytes: int, options: IozoneOptions) -> Measurement:
    by_operation = {
        operation: [run for run in timed if run.cell.operation is operation]
        for operation in dict.fromkeys(run.cell.operation for run in timed)
    }
    means = {
        f"{operation}_{_RATE}": statistics.geometric_mean(sum(e.thread_rates) for e in runs)
        for operation, runs in by_operation.items()
    }
    latencies: dict[str, Histogram] = {
        str(operation): merge_buckets(itertools.chain.from_iterable(run.latencies for run in runs))
        for operation, runs in by_operation.items()
    }
    return Measurement(
        figures={
            _MEAN: statistics.geometric_mean(sum(run.thread_rates) for run in timed),
            **means,
            BYTES: float(moved_bytes),
        },
        latencies=latencies,
        parts=tuple(_part(run, options) for run in timed),
    )


def _part(timed: _Timed, options: IozoneOptions) -> Part:
    cell, rates = timed.cell, timed.thread_rates
    labels = {
        "operation": str(cell.operation),
        "file_size": units.format_size(cell.file_bytes),
        "record_size": units.format_size(cell.record_bytes),
    }
    figures = {_RATE: sum(rates)}
    if options.threads > 1:
        figures |= {
            "common_rate": timed.common_rate,
            "min_thread_rate": min(rates),
            "max_thread_rate": max(rates),
            "mean_thread_rate": statistics.fmean(rates),
        }
    return Part(labels, figures)


def _figures(options: IozoneOptions) -> tuple[Figure, ...]:
    return (
        Figure(_MEAN, "KiB/s", "geometric mean of the rates of all cells", True),
        *(
            Figure(f"{name}_{_RATE}", "KiB/s", f"geometric mean over the cells of {name}", True)
            for name in sorted(options.operations, key=list(IozoneOperation).index)
        ),
        Figure(BYTES, "B", "bytes moved, most through the page cache unless direct", True),
    )


def _part_figures(options: IozoneOptions) -> tuple[Figure, ...]:
    threads = "the sum over all threads" if options.threads > 1 else "of the thread"
    rate = Figure(_RATE, "KiB/s", f"file size over the time of its records, {threads}", True)
    if options.threads == 1:
        return (rate,)
    return (
        rate,
        Figure("common_rate", "KiB/s", "all files over first start to last end", True),
        Figure("min_thread_rate", "KiB/s", "rate of the slowest thread", True),
        Figure("max_thread_rate", "KiB/s", "rate of the fastest thread", True),
        Figure("mean_thread_rate", "KiB/s", "mean of the threads' rates", True),
    )


IOZONE = WorkloadDefinition(
    name="iozone",
    models="iozone -a: every operation on files of every size by records of every size. With "
    "several threads it corresponds to -t. As in iozone, reads follow the writes and hit the page "
    "cache, unless direct is set or the files are larger than the memory",
    not_modelled="mmap, asynchronous and vectored I/O, processes in place of threads, and "
    "telemetry files. A random pass takes every record once, while iozone draws records at random. "
    "The measured time includes the verification of the data",
    source="iozone(1), version 3.506 (www.iozone.org)",
    options=IozoneOptions,
    figures=_figures,
    part_figures=_part_figures,
    make=Iozone,
    concurrency_options=("threads",),
    example={"max_file_size": "256KiB"},
    ticks_bytes=True,
)
