"""Hadoop's NNBench on a real name-node."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from iostudy import units
from iostudy.errors import UsageError, WorkloadError
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.option_types import Count, Seconds, Size
from iostudy.workloads.workload import Place
from iostudy_hadoop.client import Client
from iostudy_hadoop.conf.configuration import HadoopConfiguration, size_bytes
from iostudy_hadoop.native.option_types import SizeOrNothing
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import nnbench
from iostudy_hadoop.tools.nnbench import (
    LATENCIES,
    TRANSACTIONS,
    NNBenchResult,
    NNBenchRun,
    Operation,
)
from iostudy_hadoop.tools.results import NoResultError
from iostudy_hadoop.workloads import counter_figures, job
from iostudy_hadoop.workloads.job import HadoopOptions, HadoopRun, HadoopWorkload

_MIN_BLOCK = "dfs.namenode.fs-limits.min-block-size"
_MIN_BLOCK_DEFAULT = str(units.MIB)
_LOCAL_MAPS = "mapreduce.local.map.tasks.maximum"
_LOCAL_MAPS_DEFAULT = "1"
_START_SECONDS_LOCAL = 20.0
_START_SECONDS_YARN = 60.0
_LEAST_OVERLAP = 0.75
"""Two waves of maps have a half. So NNBench's rate is at most a third less than if all had begun
together; one late map among many takes less from either."""

_DISK_BLOCK_BYTES = 4096
_INODE_BYTES = 1024
"""Upper bound of a file's records in the NameNode's journal."""

_MEANINGS: dict[Operation, str] = {
    "create_write": "a file created, written and closed",
    "open_read": "a file opened, and read if requested",
    "rename": "a file given another name in its directory",
    "delete": "a file deleted",
}
_STEPS = {
    "create": "creating a file and writing into it",
    "close": "closing it",
    "open": "opening a file",
    "read": "reading it",
    "rename": "a renaming",
    "delete": "a deletion",
}


class HadoopNNBenchOptions(HadoopOptions):
    """Options of hadoop.nnbench."""

    operation: Operation = Field(
        "create_write",
        description="operation on every file (NNBench: -operation). Required files are created "
        "unmeasured by NNBench's create_write: for open_read once per block, for rename and "
        "delete before every trial",
    )
    maps: Annotated[int, Field(ge=1, le=4096)] = Field(
        2,
        description="map tasks, which start at the same time (NNBench: -maps). On YARN all of "
        f"them need their containers at once; the local runner runs {_LOCAL_MAPS} at a time",
    )
    files: Count = Field(1000, description="files of each map task (NNBench: -numberOfFiles)")
    bytes_to_write: SizeOrNothing = Field(
        0, description="size of each file (NNBench: -bytesToWrite)"
    )
    block_size: Size = Field(
        units.MIB,
        description="block size of the files, independent of dfs.blocksize (NNBench: -blockSize). "
        f"At least {_MIN_BLOCK}: NameNodes refuse NNBench's own default of 1",
    )
    bytes_per_checksum: Size = Field(
        512,
        description="bytes per checksum of 4 bytes; divides block_size (NNBench: "
        "-bytesPerChecksum, default 1)",
    )
    replication: Annotated[int, Field(ge=1, le=512)] = Field(
        1,
        description="replicas of the files' blocks, independent of dfs.replication (NNBench: "
        "-replicationFactorPerFile)",
    )
    read_after_open: bool = Field(
        default=False,
        description="open_read reads each file to its end (NNBench: -readFileAfterOpen)",
    )
    start_after: Annotated[Seconds, Field(gt=0, le=540)] | None = Field(
        None,
        description="delay until the maps start; all must be ready by then (NNBench: -startTime, "
        f"default 2 minutes). Default: {_START_SECONDS_LOCAL:.0f}s with the local runner, "
        f"{_START_SECONDS_YARN:.0f}s on YARN",
    )

    @model_validator(mode="after")
    def _whole_checksums(self) -> HadoopNNBenchOptions:
        if self.block_size % self.bytes_per_checksum:
            raise ValueError("block_size must be a multiple of bytes_per_checksum")
        return self


@dataclass(frozen=True)
class HadoopNNBench(HadoopWorkload):
    """A trial is one run of NNBench, which removes its own data before a create_write."""

    options: HadoopNNBenchOptions

    def space_bytes(self) -> int:
        """Blocks with their checksums on the DataNodes, and the name-node's journal."""
        options = self.options
        checksums = 4 * options.bytes_to_write / options.bytes_per_checksum
        blocks = sum(
            math.ceil(size / _DISK_BLOCK_BYTES) for size in (options.bytes_to_write, checksums)
        )
        file_bytes = options.replication * blocks * _DISK_BLOCK_BYTES + _INODE_BYTES
        return options.maps * options.files * file_bytes

    def reads(self) -> bool:
        """Whether files are read; they must not come from this machine's page cache."""
        return self.options.operation == "open_read" and self.options.read_after_open

    def preparation(self) -> str:
        """Trials that only open and read share their files."""
        if self.options.operation != "open_read":
            return ""
        kept = self.options.model_dump_json(exclude={"operation", "read_after_open", "limit"})
        return f"hadoop.nnbench {kept}"

    def prepare(self, place: Place) -> None:
        """Make the files that all trials of the block open."""
        if self.options.operation == "open_read":
            self._carry_out(place, "create_write")

    def reset(self, place: Place) -> None:
        """Give every trial that changes files no files or new ones."""
        match self.options.operation:
            case "rename" | "delete":
                self._carry_out(place, "create_write")
            case "create_write":
                self.clean(place)
            case "open_read":
                return

    def run(self, place: Place) -> Measurement:
        """Carry it out; exceptions, late maps and operations that are missing are an error."""
        ran, result = self._carry_out(place, self.options.operation)
        waited = (
            None
            if job.require_client(place).yarn
            else nnbench.count_waiting_maps(ran.ended.stderr.text)
        )
        _require_together(self.options.maps, result, waited)
        return Measurement(_readings(result, self.options) | counter_figures.read_task_figures(ran))

    def clean(self, place: Place) -> None:
        """Remove the HDFS folder with all that is in it."""
        client = job.require_client(place)
        Shell.for_client(client).remove(_folder(client))

    def _carry_out(self, place: Place, operation: Operation) -> tuple[HadoopRun, NNBenchResult]:
        client = job.require_client(place)
        options = self.options
        wanted = NNBenchRun(
            operation,
            maps=options.maps,
            files=options.files,
            block_bytes=options.block_size,
            bytes_to_write=options.bytes_to_write,
            bytes_per_checksum=options.bytes_per_checksum,
            replication=options.replication,
            read_after_open=options.read_after_open,
        )
        _require_possible(client, wanted)
        default = _START_SECONDS_YARN if client.yarn else _START_SECONDS_LOCAL
        start = math.ceil(time.time() + (options.start_after or default))
        arguments = wanted.arguments(_folder(client), start)
        return _sound_result(place, wanted, arguments, options.limit)


def _folder(client: Client) -> str:
    return f"{client.folder}/nnbench"


def _require_possible(client: Client, wanted: NNBenchRun) -> None:
    """UsageError if a property forbids the blocks, or that all maps begin together."""
    properties = HadoopConfiguration.read(client.conf).effective()
    least = properties.get(_MIN_BLOCK, _MIN_BLOCK_DEFAULT)
    if wanted.block_bytes < size_bytes(least):
        raise UsageError(
            f"block_size: {units.format_size(wanted.block_bytes)}",
            found=f"the name-node takes no files with blocks of less than {least} bytes",
            where=f"{_MIN_BLOCK} in {client.conf}",
            remedy=f"give a larger block_size, or a lower level of hadoop.{_MIN_BLOCK}",
        )
    at_once = properties.get(_LOCAL_MAPS, _LOCAL_MAPS_DEFAULT)
    if not client.yarn and not (at_once.isdecimal() and int(at_once) >= wanted.maps):
        raise UsageError(
            f"{wanted.maps} maps that begin at the same time",
            found=f"the local runner is to run {at_once} at a time; the others would be late",
            where=f"{_LOCAL_MAPS} in {client.conf}",
            remedy=f"give {at_once} maps, or a higher level of hadoop.{_LOCAL_MAPS}",
        )


def _sound_result(
    place: Place, wanted: NNBenchRun, arguments: tuple[str, ...], limit_seconds: float
) -> tuple[HadoopRun, NNBenchResult]:
    """Return the result; WorkloadError unless every map has completed all its operations."""
    client = job.require_client(place)
    results = client.scratch / nnbench.RESULT_FILE
    results.unlink(missing_ok=True)
    try:
        ran = job.run_program(place, nnbench.MAIN_CLASS, *arguments, limit_seconds=limit_seconds)
    except WorkloadError as error:
        # Hadoop 3 fails after it has reported exceptions: its figures say more.
        if results.exists():
            _require_sound(wanted, _result(results), error.found)
        raise
    result = _result(results)
    _require_sound(wanted, result, job.find_exceptions(ran.ended.stderr.text))
    return ran, result


def _result(results: Path) -> NNBenchResult:
    try:
        return nnbench.parse(results.read_text("utf-8"))
    except (OSError, NoResultError) as error:
        raise WorkloadError(
            "the result of NNBench",
            found=str(error),
            where=str(results),
            remedy="run it by hand, and see what its result is",
        ) from error


def _require_sound(wanted: NNBenchRun, result: NNBenchResult, log: str) -> None:
    files = wanted.maps * wanted.files
    reasons = []
    if result.exceptions:
        reasons.append(f"{result.exceptions} exceptions")
    if result.late_maps:
        reasons.append(f"{result.late_maps} of {wanted.maps} maps that missed the barrier")
    if result.successful != files or reasons:
        reasons.append(f"{result.successful} of {files} operations succeeded")
        raise WorkloadError(
            f"NNBench {wanted.operation} without exceptions and late maps",
            found=", ".join(reasons) + (f"; {log}" if log else ""),
            where=nnbench.MAIN_CLASS,
            remedy="exceptions: see the name-node's log, quotas, safe mode, and whether DataNodes "
            "have room. Late maps: give start_after a longer time, or fewer maps",
        )


def _require_together(maps: int, result: NNBenchResult, waited: int | None) -> None:
    """Hadoop 3 lets a late map begin at once, and counts it nowhere. One alone cannot be late.

    ``waited`` maps were ready in time; None where that is not known.
    """
    overlap = result.overlap(maps)
    is_late = waited is not None and waited < maps and maps > 1
    if not is_late and overlap >= _LEAST_OVERLAP:
        return
    late = f"only {waited} of {maps} were ready before they were to begin; " if is_late else ""
    raise WorkloadError(
        f"{maps} maps of NNBench that work at the same time",
        found=f"{late}on average {overlap:.0%} of them were at work",
        where=nnbench.MAIN_CLASS,
        remedy="give start_after a longer time, or fewer maps: on YARN no more than there are "
        "containers at once; and so many files that they take seconds",
    )


def _readings(result: NNBenchResult, options: HadoopNNBenchOptions) -> dict[str, float]:
    steps = zip(_steps(options), result.latencies_milliseconds, strict=True)
    return {
        "tps": result.transactions_per_second,
        "rate": 1000 * result.successful / result.longest_milliseconds,
        "exec_time": result.longest_milliseconds / 1000,
        "file_time": result.mean_milliseconds,
        **{f"{step}_latency": milliseconds for step, milliseconds in steps},
        "overlap": 100 * result.overlap(options.maps),
    }


def _steps(options: HadoopNNBenchOptions) -> tuple[str, ...]:
    """Return the steps with a mean latency."""
    steps = LATENCIES[options.operation]
    return steps if options.operation != "open_read" or options.read_after_open else steps[:1]


def _figures(options: HadoopNNBenchOptions) -> tuple[Figure, ...]:
    """Return the figures, without bytes moved: the journal's volume is unknown."""
    meaning = _MEANINGS[options.operation]
    transactions = TRANSACTIONS[options.operation]
    twice = f"for each file {transactions}: its creation, and its closing"
    return (
        Figure(
            "tps",
            "op/s",
            f"transactions a second as NNBench prints them (TPS), without the fraction; "
            f"{twice if transactions > 1 else 'one for each file'}",
            True,
        ),
        Figure("rate", "op/s", f"{meaning}: files over exec_time, with their fraction", True),
        Figure("exec_time", "s", "from the first map's start to the last map's end", False),
        Figure("file_time", "ms", f"mean time of {meaning} (NNBench: Avg exec time)", False),
        *(
            Figure(f"{step}_latency", "ms", f"mean time of {words} (NNBench: Avg Lat)", False)
            for step, words in _STEPS.items()
            if step in _steps(options)
        ),
        Figure("overlap", "%", "mean share of the maps that run, over exec_time", True),
        *counter_figures.TASK_FIGURES,
    )


HADOOP_NNBENCH = WorkloadDefinition(
    name="hadoop.nnbench",
    models="NNBench: map tasks that create, open, rename or delete small files on a real "
    "NameNode. Exceptions, missing operations and maps that did not overlap are errors, "
    "although NNBench may show them only in its figures",
    not_modelled="several reduce tasks (-reduces is 1): NNBench reads only the output of the "
    "first and would lose the figures of the others. Bytes are unknown, because nobody "
    "counts the writes of NameNode and DataNodes; so foreign I/O cannot be detected. On "
    "YARN a single late map among many is not detected, only an overlap below "
    f"{_LEAST_OVERLAP:.0%}: Hadoop 3 does not count late maps. Up to Hadoop 2.7, maps of one "
    "host work on the same files. Up to 2.x, missing files count as renamed and deleted",
    source="Apache Hadoop 3.4.2, org.apache.hadoop.hdfs.NNBench "
    "(hadoop-mapreduce-client-jobclient)",
    options=HadoopNNBenchOptions,
    figures=_figures,
    make=HadoopNNBench,
    example={"files": 300},
    service="hadoop",
    decides=frozenset({"dfs.blocksize", "dfs.replication"}),
)
