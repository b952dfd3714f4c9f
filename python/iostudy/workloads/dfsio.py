"""TestDFSIO's write and read on a plain directory: N files by N threads, sequentially."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from iostudy import _native, units
from iostudy.job import JobSpec
from iostudy.workloads.definition import (
    BYTES,
    Figure,
    Measured,
    Options,
    Place,
    Size,
    Workload,
    WorkloadDefinition,
    always,
)
from iostudy.workloads.latency import compact, latency_figures, latency_readings
from iostudy.workloads.native import told_as_workload

DIRECT_ALIGNMENT = 4096

SOURCE = "Apache Hadoop, org.apache.hadoop.fs.TestDFSIO (hadoop-mapreduce-client-jobclient)"


class DfsioOptions(Options):
    """Options of dfsio-write and dfsio-read."""

    files: Annotated[int, Field(ge=1, le=4096)] = Field(
        4, description="number of files, each with a thread of its own (TestDFSIO: -nrFiles)"
    )
    size: Size = Field(256 * units.MIB, description="size of each file (TestDFSIO: -size)")
    record_size: Size = Field(
        units.MIB, description="bytes of one read or write call (TestDFSIO: -bufferSize)"
    )
    direct: bool = Field(
        default=False, description="O_DIRECT, past the page cache, instead of buffered"
    )

    @model_validator(mode="after")
    def _fits(self) -> DfsioOptions:
        if self.record_size > self.size:
            raise ValueError("record_size is larger than size; make it smaller")
        if self.direct and (self.record_size % DIRECT_ALIGNMENT or self.size % DIRECT_ALIGNMENT):
            raise ValueError(
                f"direct I/O needs size and record_size to be multiples of {DIRECT_ALIGNMENT} bytes"
            )
        return self


class DfsioWriteOptions(DfsioOptions):
    """Options of dfsio-write."""

    fsync: bool = Field(
        default=True, description="end each file with fsync, inside its measured time"
    )


@dataclass(frozen=True)
class Dfsio(Workload):
    """Either operation. Reads find the files that prepare has written in the same block."""

    operation: Literal["write", "read"]
    options: DfsioOptions

    def space_bytes(self) -> int:
        """All files together."""
        return self.options.files * self.options.size

    def reads(self) -> bool:
        """A read finds nothing in the page cache."""
        return self.operation == "read"

    def preparation(self) -> str:
        """Reads share the files that were written for them, whatever their record size."""
        return f"{self.options.files} x {self.options.size}" if self.operation == "read" else ""

    def prepare(self, place: Place) -> None:
        """Write the files that are to be read; a write needs nothing."""
        if self.operation == "read":
            self._job(place, "write", fsync=True)

    def reset(self, place: Place) -> None:
        """Every write makes new files, as TestDFSIO's does; the file system allocates afresh."""
        if self.operation == "write":
            self.clean(place)

    def run(self, place: Place) -> Measured:
        """Write or read all files once and give TestDFSIO's figures and the aggregate."""
        fsync = isinstance(self.options, DfsioWriteOptions) and self.options.fsync
        result = self._job(place, self.operation, fsync=fsync)
        tally = result.read if self.operation == "read" else result.write
        return Measured(
            _figures(result, tally.latencies, self.options),
            {self.operation: compact(tally.latencies)},
        )

    def clean(self, place: Place) -> None:
        """Remove the files."""
        for path in self._paths(place):
            path.unlink(missing_ok=True)

    def _paths(self, place: Place) -> list[Path]:
        return [place.directory / f"part-{index:05d}" for index in range(self.options.files)]

    def _job(
        self, place: Place, operation: Literal["write", "read"], *, fsync: bool
    ) -> _native.JobResult:
        spec = JobSpec(
            threads=tuple((str(path),) for path in self._paths(place)),
            operation=operation,
            create=operation == "write",
            file_bytes=self.options.size,
            record_bytes=self.options.record_size,
            direct=self.options.direct,
            sync="fsync" if fsync else None,
            seed=place.seed,
        )
        job = _native.FileJob(spec)
        with told_as_workload(f"to {operation} the files of the workload", place.directory):
            return job.run(place.tick)


def _figures(
    result: _native.JobResult, latencies: _native.Latencies, options: DfsioOptions
) -> dict[str, float]:
    size_mib = options.size / units.MIB
    rates = [size_mib / seconds for seconds in result.thread_seconds]
    mean = statistics.fmean(rates)
    return {
        "aggregate": result.bytes / units.MIB / result.wall_seconds,
        "throughput": size_mib * options.files / math.fsum(result.thread_seconds),
        "average_io_rate": mean,
        "io_rate_stddev": statistics.pstdev(rates, mean),
        "exec_time": result.wall_seconds,
        BYTES: float(result.bytes),
        **latency_readings(latencies),
    }


_FIGURES = always(
    Figure("aggregate", "MiB/s", "all bytes over the time from first start to last end", True),
    Figure("throughput", "MiB/s", "total MiB over the sum of the files' times", True),
    Figure("average_io_rate", "MiB/s", "mean over files of size over time", True),
    Figure("io_rate_stddev", "MiB/s", "standard deviation of the files' rates", False),
    Figure("exec_time", "s", "from first start to last end", False),
    Figure(BYTES, "B", "bytes moved", True),
    *latency_figures("a record: its system call, with making its data or verifying it"),
)
_EXAMPLE = {"files": 2, "size": "64MiB"}
_LEAVES_OUT = "HDFS with its replication, checksums, network and JVM, and the start of map tasks"

WRITE = WorkloadDefinition(
    name="dfsio-write",
    models="TestDFSIO -write: every map task writes one file from start to end",
    leaves_out=_LEAVES_OUT,
    source=SOURCE,
    options=DfsioWriteOptions,
    figures=_FIGURES,
    example=_EXAMPLE,
    make=lambda options: Dfsio("write", options),
    ticks_bytes=True,
)
READ = WorkloadDefinition(
    name="dfsio-read",
    models="TestDFSIO -read: every map task reads one file from start to end",
    leaves_out=_LEAVES_OUT,
    source=SOURCE,
    options=DfsioOptions,
    figures=_FIGURES,
    example=_EXAMPLE,
    make=lambda options: Dfsio("read", options),
    ticks_bytes=True,
)
