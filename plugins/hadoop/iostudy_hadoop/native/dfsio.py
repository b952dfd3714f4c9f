"""TestDFSIO on a plain directory: N files by N threads, one thread per file."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iostudy._native import IoStats, JobResult, Truncation
from iostudy.job import JobSpec, Order
from iostudy.workloads.core_errors import io_error, translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import AGGREGATE, BYTES, EXEC_TIME, Measurement
from iostudy.workloads.native.job_files import (
    build_write_job,
    require_present,
    run_job,
    write_files,
)
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.native.rates import Direction, mib_per_second, tally
from iostudy.workloads.native.steady import (
    BUFFERED_READS,
    BUFFERED_WRITES,
    steady_file_run,
    window_names,
    window_percentiles,
)
from iostudy.workloads.windows import SteadyRun
from iostudy.workloads.workload import Place, Workload
from iostudy_hadoop.native.dfsio_options import (
    DfsioFiles,
    DfsioOptions,
    DfsioSkipOptions,
    DfsioTruncateOptions,
    DfsioWriteOptions,
)

SOURCE = "Apache Hadoop, org.apache.hadoop.fs.TestDFSIO (hadoop-mapreduce-client-jobclient)"


@dataclass(frozen=True)
class Dfsio(Workload):
    """Base of all operations: files with contents from the block's seed."""

    options: DfsioFiles

    def space_bytes(self) -> int:
        """Return the size of all files."""
        return self.options.files * self.options.size

    def preparation(self) -> str:
        """Trials with the same files share them, for all record sizes."""
        return f"{self.options.files} x {self.options.size}, {self.compressible} compressible"

    def clean(self, place: Place) -> None:
        """Remove the files."""
        for path in self.paths(place):
            remove(path)

    @property
    def compressible(self) -> float:
        """Return the compressible share of the files' content."""
        return self.options.compressible if isinstance(self.options, DfsioOptions) else 0.0

    def paths(self, place: Place) -> list[Path]:
        """Return every file in order."""
        return [place.directory / f"part-{index:05d}" for index in range(self.options.files)]

    def whole_files(self, place: Place) -> JobSpec:
        """A job that writes all of every file."""
        return build_write_job(
            tuple((str(path),) for path in self.paths(place)),
            self.options.size,
            place.seed,
            self.compressible,
        )


@dataclass(frozen=True)
class DfsioWrite(Dfsio):
    """New files from start to end."""

    options: DfsioWriteOptions

    def reset(self, place: Place) -> None:
        """Remove the files: as in TestDFSIO, every write creates new ones on new space."""
        self.clean(place)

    def run(self, place: Place) -> Measurement:
        """Write all files once."""
        return _measured(_writing(self.whole_files(place), self.options), place, "write")

    def unsteady_reason(self) -> str:
        """Pages are written back later, under another configuration perhaps."""
        return "" if self.options.direct else BUFFERED_WRITES

    def steady_run(self, place: Place) -> SteadyRun:
        """Write into the same files again and again; each pass ends with its fsync."""
        options = self.options
        write_files(self.whole_files(place), place)
        records = math.ceil(options.size / options.record_size)
        spec = replace(
            _writing(self.whole_files(place), options),
            create=False,
            sync_every=records if options.fsync else 0,
        )
        return _steady(spec, place, "write")


@dataclass(frozen=True)
class DfsioAppend(Dfsio):
    """Files that are there grow to twice their size."""

    options: DfsioWriteOptions

    def space_bytes(self) -> int:
        """Return the size of the existing files and of the appended data."""
        return 2 * super().space_bytes()

    def written_bytes(self) -> int:
        """Return the size of the appended data."""
        return super().space_bytes()

    def prepared_bytes(self) -> int:
        """Return the size of the existing files."""
        return super().space_bytes()

    def prepare(self, place: Place) -> None:
        """Write what is there before."""
        write_files(self.whole_files(place), place)

    def reset(self, place: Place) -> None:
        """Cut off what the trial before has appended."""
        _cut_back(self.paths(place), self.options.size, place.directory)

    def run(self, place: Place) -> Measurement:
        """Append to all files once."""
        spec = replace(self.whole_files(place), create=False, begin_bytes=self.options.size)
        return _measured(_writing(spec, self.options), place, "write")

    def unsteady_reason(self) -> str:
        """A file grows as long as something is appended."""
        return "its files grow as long as it runs; dfsio-write writes into the same files again"


@dataclass(frozen=True)
class DfsioRead(Dfsio):
    """Files that prepare has written in the same block, in some order."""

    options: DfsioOptions
    order: Order

    def reads(self) -> bool:
        """A read finds nothing in the page cache."""
        return True

    def prepare(self, place: Place) -> None:
        """Write the files that the trial reads."""
        write_files(self.whole_files(place), place)

    def run(self, place: Place) -> Measurement:
        """Read all files once."""
        return _measured(self._spec(place), place, "read")

    def unsteady_reason(self) -> str:
        """After the first pass the page cache would answer."""
        return "" if self.options.direct else BUFFERED_READS

    def steady_run(self, place: Place) -> SteadyRun:
        """Read all files again and again."""
        return _steady(self._spec(place), place, "read")

    def _spec(self, place: Place) -> JobSpec:
        options = self.options
        return replace(
            self.whole_files(place),
            operation="read",
            create=False,
            record_bytes=options.record_size,
            direct=options.direct,
            order=self.order,
            step=options.step if isinstance(options, DfsioSkipOptions) else 1,
        )


@dataclass(frozen=True)
class DfsioTruncate(Dfsio):
    """Files that are cut off."""

    options: DfsioTruncateOptions

    def reset(self, place: Place) -> None:
        """Write whole new files: what is cut off lies the same way in every trial."""
        self.clean(place)
        write_files(self.whole_files(place), place)

    def unsteady_reason(self) -> str:
        """Nothing is left to cut off."""
        return "each file is cut off once, and has to be written before it can be cut off again"

    def run(self, place: Place) -> Measurement:
        """Cut all files off once."""
        options, paths = self.options, self.paths(place)
        job = Truncation(
            list(map(str, paths)), size=options.left, sync="fsync" if options.fsync else None
        )
        with translate_core_errors("to truncate the files of the workload", place.directory):
            result = job.run(place.tick)
        require_present(paths, place, options.left)
        figures = {
            "truncates": options.files / result.wall_seconds,
            **compute_readings(options.size - options.left, result),
            **latency_readings(result.write.latencies),
        }
        return Measurement(figures, {"truncate": compact_histogram(result.write.latencies)})


def _writing(spec: JobSpec, options: DfsioWriteOptions) -> JobSpec:
    return replace(
        spec,
        record_bytes=options.record_size,
        direct=options.direct,
        sync="fsync" if options.fsync else None,
    )


def _steady(spec: JobSpec, place: Place, direction: Direction) -> SteadyRun:
    """Windows of passes over all files."""

    def figures(stats: Sequence[IoStats], seconds: float) -> dict[str, float]:
        reads, writes, _ = stats
        moved = reads if direction == "read" else writes
        aggregate = mib_per_second(moved.bytes, seconds)
        return {AGGREGATE: aggregate, **window_percentiles(moved.latencies)}

    return steady_file_run(spec, place, _doing(direction), figures)


def _doing(direction: Direction) -> str:
    return f"to {direction} the files of the workload"


def _measured(spec: JobSpec, place: Place, direction: Direction) -> Measurement:
    """TestDFSIO's figures and the aggregate, of one pass over all files."""
    result = run_job(spec, place, _doing(direction))
    latencies = tally(result, direction).latencies
    figures = {
        AGGREGATE: mib_per_second(result.bytes, result.wall_seconds),
        **compute_readings(result.bytes // len(spec.threads), result),
        BYTES: float(result.bytes),
        **latency_readings(latencies),
    }
    return Measurement(figures, {direction: compact_histogram(latencies)})


def _cut_back(paths: Iterable[Path], size: int, where: Path) -> None:
    """Cut files off at the size they had before something was appended."""
    for path in paths:
        try:
            if path.stat().st_size > size:
                os.truncate(path, size)
        except OSError as error:
            raise io_error("to cut off what was appended", error, where) from error


def compute_readings(file_bytes: int, result: JobResult) -> dict[str, float]:
    """Return TestDFSIO's figures for files of which so many bytes each were processed."""
    seconds = result.thread_seconds
    rates = [mib_per_second(file_bytes, duration) for duration in seconds]
    mean = statistics.fmean(rates)
    return {
        "throughput": mib_per_second(file_bytes * len(seconds), math.fsum(seconds)),
        "average_io_rate": mean,
        "io_rate_stddev": statistics.pstdev(rates, mean),
        EXEC_TIME: result.wall_seconds,
    }


def file_rate_figures(of: str) -> tuple[Figure, ...]:
    """Return the figures of the files' rates, as TestDFSIO has them; ``of`` names the bytes."""
    return (
        Figure("throughput", "MiB/s", f"MiB {of} over the sum of the files' times", True),
        Figure("average_io_rate", "MiB/s", f"mean over files of MiB {of} over time", True),
        Figure("io_rate_stddev", "MiB/s", "standard deviation of the files' rates", False),
    )


_EXEC_TIME = Figure(EXEC_TIME, "s", "from first start to last end", False)


_MOVING = fixed_figures(
    Figure(AGGREGATE, "MiB/s", "all bytes over the time from first start to last end", True),
    *file_rate_figures("moved"),
    _EXEC_TIME,
    Figure(BYTES, "B", "bytes moved", True),
    *latency_figures("a record: its system call, with making its data or verifying it"),
)
_TRUNCATING = fixed_figures(
    Figure("truncates", "op/s", "files over the time from first start to last end", True),
    *file_rate_figures("cut off"),
    _EXEC_TIME,
    *latency_figures("a file: open, ftruncate(2), fsync if it is on, and close"),
)

_LEAVES_OUT = (
    "HDFS with its replication, checksums, network and JVM, and the start of map tasks; "
    "-compression, which takes processor time of the client (compressible gives data that "
    "compress). Opening a file counts here, and does not in TestDFSIO"
)


def _definition(
    name: str,
    models: str,
    options: type[DfsioFiles],
    make: Callable[[Any], Dfsio],
    *,
    differs: str = "",
    steady_when: str = "",
    can_be_simulated: bool = True,
    figures: Callable[[Any], tuple[Figure, ...]] = _MOVING,
) -> WorkloadDefinition:
    return WorkloadDefinition(
        name=f"dfsio-{name}",
        models=models,
        not_modelled=". ".join(filter(None, (_LEAVES_OUT, differs))),
        source=SOURCE,
        options=options,
        figures=figures,
        example={"files": 2, "size": "64MiB"},
        make=make,
        concurrency_options=("files",),
        ticks_bytes=figures is _MOVING,
        steady_when=steady_when,
        can_be_simulated=can_be_simulated,
        window_figures=lambda options: window_names(figures(options), AGGREGATE),
    )


_STEADY_READS = "with direct: true; it reads the same files again and again"


def _reading(order: Order) -> Callable[[Any], Dfsio]:
    return lambda options: DfsioRead(options, order)


WRITE = _definition(
    "write",
    "TestDFSIO -write: every map task writes one file from start to end",
    DfsioWriteOptions,
    DfsioWrite,
    differs="TestDFSIO asks for no fsync",
    steady_when="with direct: true; it writes into the same files again and again",
)
READ = _definition(
    "read",
    "TestDFSIO -read: every map task reads one file from start to end",
    DfsioOptions,
    _reading("sequential"),
    steady_when=_STEADY_READS,
)
APPEND = _definition(
    "append",
    "TestDFSIO -append: every map task appends to one file as much as is there already",
    DfsioWriteOptions,
    DfsioAppend,
    differs="TestDFSIO asks for no fsync, and appends to whatever its last run has left",
    can_be_simulated=False,
)
RANDOM_READ = _definition(
    "random-read",
    "TestDFSIO -read -random: every map task reads the records of one file in random order",
    DfsioOptions,
    _reading("random"),
    steady_when=_STEADY_READS,
    differs="TestDFSIO draws any byte as a record's start, so that records overlap, some bytes are "
    "read twice and others never; here each record is read once, in shuffled order",
)
BACKWARD_READ = _definition(
    "backward-read",
    "TestDFSIO -read -backward: every map task reads one file from its end to its start",
    DfsioOptions,
    _reading("reverse"),
    steady_when=_STEADY_READS,
    differs="Where size is no multiple of record_size, the short record is the file's last here; "
    "TestDFSIO reads whole ones from the end, and some of the first bytes twice",
)
SKIP_READ = _definition(
    "skip-read",
    "TestDFSIO -read -skip: every map task reads one file with gaps. After each record the bytes "
    "of skip_size are left out, and so on to the end",
    DfsioSkipOptions,
    _reading("skip"),
    steady_when=_STEADY_READS,
    differs="TestDFSIO also takes a skipSize that is no multiple of its buffer",
)
TRUNCATE = _definition(
    "truncate",
    "TestDFSIO -truncate: every map task cuts one file off",
    DfsioTruncateOptions,
    DfsioTruncate,
    differs="the recovery of a file's last block, which HDFS does after cutting within one",
    figures=_TRUNCATING,
    can_be_simulated=False,
)

DEFINITIONS = (WRITE, READ, APPEND, RANDOM_READ, BACKWARD_READ, SKIP_READ, TRUNCATE)
