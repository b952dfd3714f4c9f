"""Hadoop's TestDFSIO: files in HDFS, each written or read by one map task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from iostudy.errors import WorkloadError
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.option_types import Size
from iostudy.workloads.workload import Place
from iostudy_hadoop.native.dfsio import file_rate_figures
from iostudy_hadoop.native.dfsio_options import DfsioFiles, TruncatedFiles
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import dfsio
from iostudy_hadoop.tools.dfsio import DfsioOperation, DfsioResult, DfsioRun
from iostudy_hadoop.tools.results import NoResultError
from iostudy_hadoop.workloads import counter_figures, job
from iostudy_hadoop.workloads.job import HadoopOptions, HadoopRun, HadoopWorkload

_RESULTS = "dfsio-results.log"
_MAX_BUFFER_BYTES = 1 << 30
"""TestDFSIO keeps one in memory, of a size that is a Java int."""


class HadoopDfsioFiles(DfsioFiles, HadoopOptions):
    """Options that all operations share."""

    record_size: Annotated[Size, Field(le=_MAX_BUFFER_BYTES)] = Field(
        10**6, description="bytes of one read or write call, TestDFSIO's own default (-bufferSize)"
    )
    storage_policy: str | None = Field(
        None,
        min_length=1,
        description="storage policy of the files in HDFS, such as ALL_SSD (-storagePolicy, Hadoop "
        "3.2 and later)",
    )


class HadoopDfsioOptions(HadoopDfsioFiles):
    """Options of those that move whole files."""

    compression: str | None = Field(
        None,
        min_length=1,
        description="class of the codec for writing and reading, such as "
        "org.apache.hadoop.io.compress.GzipCodec (-compression)",
    )


class HadoopDfsioSkipOptions(HadoopDfsioFiles):
    """Options of hadoop.dfsio-skip-read."""

    skip_size: Size | None = Field(
        None,
        description="bytes skipped after every record, by default the record size (-skipSize)",
    )


class HadoopDfsioTruncateOptions(TruncatedFiles, HadoopDfsioFiles):
    """Options of hadoop.dfsio-truncate."""


@dataclass(frozen=True)
class HadoopDfsio(HadoopWorkload):
    """One operation on files that TestDFSIO itself has written."""

    options: HadoopDfsioFiles
    operation: DfsioOperation

    def space_bytes(self) -> int:
        """Return the size of all files; compressed ones take at most this."""
        return self.options.files * self.options.size

    def clean(self, place: Place) -> None:
        """Remove all that TestDFSIO has made in HDFS."""
        Shell.for_client(job.require_client(place)).remove(_base(place))

    def run(self, place: Place) -> Measurement:
        """Carry it out once. WorkloadError unless all files are processed whole."""
        ran, result = self._carry_out(place, self.program_run())
        return Measurement(
            {
                "throughput": result.throughput_mib_per_second,
                "average_io_rate": result.average_mib_per_second,
                "io_rate_stddev": result.stddev_mib_per_second,
                "exec_time": result.exec_seconds,
                "aggregate": result.processed_mib / result.exec_seconds,
                **ran.times(),
                **counter_figures.read_figures(ran, job.require_client(place).replication),
            }
        )

    def program_run(self) -> DfsioRun:
        """Return the run for TestDFSIO."""
        options = self.options
        return DfsioRun(
            self.operation,
            files=options.files,
            file_bytes=options.size,
            buffer_bytes=options.record_size,
            skip_bytes=(options.skip_size or 0)
            if isinstance(options, HadoopDfsioSkipOptions)
            else 0,
            left_bytes=options.left if isinstance(options, HadoopDfsioTruncateOptions) else 0,
            compression=options.compression if isinstance(options, HadoopDfsioOptions) else None,
            storage_policy=options.storage_policy,
        )

    def write_files(self, place: Place) -> None:
        """Write all files again."""
        self._carry_out(place, replace(self.program_run(), operation=DfsioOperation.WRITE))

    def _carry_out(self, place: Place, program_run: DfsioRun) -> tuple[HadoopRun, DfsioResult]:
        results = job.require_client(place).scratch / _RESULTS
        results.unlink(missing_ok=True)  # TestDFSIO adds to what is there
        arguments = program_run.arguments(_base(place), results)
        limit = self.options.limit
        ran = job.run_program(place, dfsio.MAIN_CLASS, *arguments, limit_seconds=limit)
        try:
            return ran, program_run.result(results.read_text() if results.exists() else "")
        except NoResultError as error:
            raise WorkloadError(
                "the result of the requested run",
                found=str(error),
                where=str(ran.ended.program),
                remedy="make sure that no other program changes its files; give larger files if a "
                "rate is no number: a file then took less than a millisecond",
            ) from error


@dataclass(frozen=True)
class HadoopDfsioWrite(HadoopDfsio):
    """New files from start to end."""

    def reset(self, place: Place) -> None:
        """Remove the files before: otherwise they are removed in the measured time."""
        self.clean(place)


@dataclass(frozen=True)
class HadoopDfsioRead(HadoopDfsio):
    """Files that prepare has written in the same block, in some order."""

    def reads(self) -> bool:
        """A read finds nothing in the page cache."""
        return True

    def preparation(self) -> str:
        """Trials with the same files share them, for all record sizes."""
        return str(
            replace(
                self.program_run(), operation=DfsioOperation.WRITE, buffer_bytes=1, skip_bytes=0
            )
        )

    def prepare(self, place: Place) -> None:
        """Write the files that the trial reads."""
        self.write_files(place)


@dataclass(frozen=True)
class DfsioChange(HadoopDfsio):
    """Files that are there are changed: appended to, or cut off."""

    def space_bytes(self) -> int:
        """Return the size of the existing files and of the appended data."""
        return super().space_bytes() * (2 if self.operation is DfsioOperation.APPEND else 1)

    def reset(self, place: Place) -> None:
        """Write whole new files: what is changed lies the same way in every trial."""
        self.clean(place)
        self.write_files(place)


def _base(place: Place) -> str:
    """Return TestDFSIO's folder; all versions obey test.build.data."""
    return f"{job.require_client(place).folder}/dfsio"


def _figures(of: str) -> tuple[Figure, ...]:
    """``of`` says which bytes count."""
    return (
        *file_rate_figures(of),
        Figure("exec_time", "s", "Test exec time: from the job's submission to its end", False),
        Figure("aggregate", "MiB/s", f"all MiB {of} over exec_time", True),
        job.JOB_TIME,
        job.PROGRAM_TIME,
        *counter_figures.FIGURES,
    )


_LEAVES_OUT = (
    "opening files, which TestDFSIO does not time; a sync to disk, for which it does not ask, so "
    "that what it writes may still be in the page cache when it ends; data that do not compress, "
    "as it repeats 50 bytes; -erasureCodePolicy, which changes the whole cluster. "
    "With the local runner, as many files are worked on at a time as "
    "mapreduce.local.map.tasks.maximum says"
)


def _definition(
    name: str,
    models: str,
    options: type[HadoopDfsioFiles],
    make: Callable[[Any], HadoopDfsio],
    *,
    of: str = "moved",
    differs: str = "",
) -> WorkloadDefinition:
    return WorkloadDefinition(
        name=f"hadoop.dfsio-{name}",
        models=models,
        not_modelled=". ".join(filter(None, (_LEAVES_OUT, differs))),
        source="Apache Hadoop, org.apache.hadoop.fs.TestDFSIO "
        "(hadoop-mapreduce-client-jobclient, tests)",
        options=options,
        figures=fixed_figures(*_figures(of)),
        example={"files": 2, "size": "16MiB"},
        make=make,
        service="hadoop",
    )


_IN_ONE_CODEC = (
    "-compression, as positions in a compressed file are not those of the data that it holds"
)

WRITE = _definition(
    "write",
    "TestDFSIO -write on HDFS: every map task writes one file from start to end",
    HadoopDfsioOptions,
    lambda options: HadoopDfsioWrite(options, DfsioOperation.WRITE),
)
READ = _definition(
    "read",
    "TestDFSIO -read on HDFS: every map task reads one file from start to end",
    HadoopDfsioOptions,
    lambda options: HadoopDfsioRead(options, DfsioOperation.READ),
)
APPEND = _definition(
    "append",
    "TestDFSIO -append on HDFS: every map task appends to one file. As much as is there already, "
    "and to files that are written anew, unmeasured, before each trial",
    HadoopDfsioOptions,
    lambda options: DfsioChange(options, DfsioOperation.APPEND),
)
RANDOM_READ = _definition(
    "random-read",
    "TestDFSIO -read -random on HDFS: every map task reads one file at random positions. Until it "
    "has read as much as the file holds, or up to a record more",
    HadoopDfsioFiles,
    lambda options: HadoopDfsioRead(options, DfsioOperation.RANDOM_READ),
    differs=f"{_IN_ONE_CODEC}; before Hadoop 3.3, files of 2 GiB and more fail",
)
BACKWARD_READ = _definition(
    "backward-read",
    "TestDFSIO -read -backward on HDFS: every map task reads one file from its end. Where the size "
    "is no multiple of record_size, the last record overlaps the one before",
    HadoopDfsioFiles,
    lambda options: HadoopDfsioRead(options, DfsioOperation.BACKWARD_READ),
    differs=_IN_ONE_CODEC,
)
SKIP_READ = _definition(
    "skip-read",
    "TestDFSIO -read -skip on HDFS: every map task reads records with gaps between them",
    HadoopDfsioSkipOptions,
    lambda options: HadoopDfsioRead(options, DfsioOperation.SKIP_READ),
    differs=_IN_ONE_CODEC,
)
TRUNCATE = _definition(
    "truncate",
    "TestDFSIO -truncate on HDFS: every map task cuts one file off. The files are written anew, "
    "unmeasured, before each trial. Where the cut is inside a block, the task asks every 100 ms "
    "whether the DataNodes have shortened it",
    HadoopDfsioTruncateOptions,
    lambda options: DfsioChange(options, DfsioOperation.TRUNCATE),
    of="cut off",
)

DEFINITIONS = (WRITE, READ, APPEND, TRUNCATE, RANDOM_READ, BACKWARD_READ, SKIP_READ)
