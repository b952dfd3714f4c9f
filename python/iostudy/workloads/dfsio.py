"""TestDFSIO's write and read on a plain directory: N files by N threads, sequentially."""

from __future__ import annotations

import errno
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from iostudy import _native, units
from iostudy.errors import WorkloadError
from iostudy.workloads.definition import Figure, Place, Size, WorkloadDefinition

DIRECT_ALIGNMENT = 4096

SOURCE = "Apache Hadoop, org.apache.hadoop.fs.TestDFSIO (hadoop-mapreduce-client-jobclient)"


class DfsioOptions(BaseModel):
    """Options of dfsio-write and dfsio-read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
class Dfsio:
    """Either operation. Reads find the files that prepare has written in the same block."""

    operation: Literal["write", "read"]
    options: DfsioOptions

    def space_bytes(self) -> int:
        """All files together."""
        return self.options.files * self.options.size

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

    def run(self, place: Place) -> Mapping[str, float]:
        """Write or read all files once and give TestDFSIO's figures and the aggregate."""
        fsync = isinstance(self.options, DfsioWriteOptions) and self.options.fsync
        return _figures(self._job(place, self.operation, fsync=fsync), self.options)

    def clean(self, place: Place) -> None:
        """Remove the files."""
        for path in self._paths(place):
            path.unlink(missing_ok=True)

    def _paths(self, place: Place) -> list[Path]:
        return [place.directory / f"part-{index:05d}" for index in range(self.options.files)]

    def _job(
        self, place: Place, operation: Literal["write", "read"], *, fsync: bool
    ) -> _native.JobResult:
        try:
            job = _native.FileJob(
                [str(path) for path in self._paths(place)],
                operation=operation,
                file_bytes=self.options.size,
                record_bytes=self.options.record_size,
                direct=self.options.direct,
                fsync=fsync,
                seed=place.seed,
            )
            return job.run()
        except _native.VerificationError as error:
            raise WorkloadError(
                "to read back what was written",
                found=str(error),
                where=str(place.directory),
                remedy="check the device and its log (dmesg): data were changed or lost",
            ) from error
        except _native.EngineError as error:
            raise _io_error(error, operation, place) from error


def _io_error(error: OSError, operation: str, place: Place) -> WorkloadError:
    return WorkloadError(
        f"to {operation} the files of the workload",
        found=f"{error.strerror} ({error.filename})",
        where=str(place.directory),
        remedy="make room on the file system, or give fewer or smaller files"
        if error.errno == errno.ENOSPC
        else "see the kernel's log (dmesg) and the state of the file system",
    )


def _figures(result: _native.JobResult, options: DfsioOptions) -> dict[str, float]:
    size_mib = options.size / units.MIB
    rates = [size_mib / seconds for seconds in result.file_seconds]
    mean = statistics.fmean(rates)
    percentiles = (50.0, 95.0, 99.0, 99.9)
    latencies = result.latency_percentiles_us(percentiles)
    return {
        "aggregate": result.bytes / units.MIB / result.wall_seconds,
        "throughput": size_mib * options.files / math.fsum(result.file_seconds),
        "average_io_rate": mean,
        "io_rate_stddev": statistics.pstdev(rates, mean),
        "exec_time": result.wall_seconds,
        "bytes": float(result.bytes),
        **{f"latency_p{p:g}": v for p, v in zip(percentiles, latencies, strict=True)},
        "latency_max": result.latency_max_us,
    }


_LATENCY = "of one record: its system call, with making its data before or verifying it after"
_FIGURES = (
    Figure("aggregate", "MiB/s", "all bytes over the time from first start to last end", True),
    Figure("throughput", "MiB/s", "total MiB over the sum of the files' times", True),
    Figure("average_io_rate", "MiB/s", "mean over files of size over time", True),
    Figure("io_rate_stddev", "MiB/s", "standard deviation of the files' rates", False),
    Figure("exec_time", "s", "from first start to last end", False),
    Figure("bytes", "B", "bytes moved", True),
    Figure("latency_p50", "us", f"median {_LATENCY}", False),
    Figure("latency_p95", "us", f"95th percentile {_LATENCY}", False),
    Figure("latency_p99", "us", f"99th percentile {_LATENCY}", False),
    Figure("latency_p99.9", "us", f"99.9th percentile {_LATENCY}", False),
    Figure("latency_max", "us", f"longest {_LATENCY}", False),
)
_LEAVES_OUT = "HDFS with its replication, checksums, network and JVM, and the start of map tasks"

WRITE = WorkloadDefinition(
    name="dfsio-write",
    models="TestDFSIO -write: every map task writes one file from start to end",
    leaves_out=_LEAVES_OUT,
    source=SOURCE,
    options=DfsioWriteOptions,
    figures=_FIGURES,
    verdict_figure="aggregate",
    reads=False,
    make=lambda options: Dfsio("write", options),
)
READ = WorkloadDefinition(
    name="dfsio-read",
    models="TestDFSIO -read: every map task reads one file from start to end",
    leaves_out=_LEAVES_OUT,
    source=SOURCE,
    options=DfsioOptions,
    figures=_FIGURES,
    verdict_figure="aggregate",
    reads=True,
    make=lambda options: Dfsio("read", options),
)
