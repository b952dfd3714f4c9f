"""Hadoop's own NNThroughputBenchmark: a real name-node in the benchmark's process, without RPC."""

from __future__ import annotations

import functools
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from iostudy.errors import UsageError, WorkloadError
from iostudy.units import MIB
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.external import program
from iostudy.workloads.external.program import Program, ProgramResult
from iostudy.workloads.file_removal import empty, remove
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.option_types import Size
from iostudy.workloads.tick import Tick, continue_run
from iostudy.workloads.workload import Place
from iostudy_hadoop.conf import folder
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.local import confinement
from iostudy_hadoop.native.edit_logs import (
    NO_LOG,
    LoggingWorkload,
    NamespaceOptions,
    Operation,
    opens_per_create,
    rate_figures,
)
from iostudy_hadoop.software import artifacts, java
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java, process_options
from iostudy_hadoop.spec import DEFAULT_VERSION, VERSION
from iostudy_hadoop.tools import nnthroughput
from iostudy_hadoop.tools.nnthroughput import ALONE_IN_LOG, NNThroughputResult, NNThroughputRun
from iostudy_hadoop.tools.results import NoResultError
from iostudy_hadoop.workloads import job
from iostudy_hadoop.workloads.job import HadoopOptions, HadoopWorkload

_FOLDER = "hadoop-nnthroughput"
_LOG = "namenode.log"
_FILE_BYTES = 640
"""Upper bound of a file's records in a log: creation, closing, renaming."""
_FREE_BYTES = 102 * MIB
"""Free space that a NameNode requires, else it enters safe mode.

It covers dfs.namenode.resource.du.reserved and the preallocation of a log.
"""
_MOST_CHARACTERS = 300
_SHORT_RUN = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class HadoopNNThroughputOptions(NamespaceOptions, HadoopOptions):
    """Options of hadoop.nnthroughput."""

    sync: Literal["fdatasync", "dsync"] = Field(
        "fdatasync",
        description="how a batch becomes durable before its acknowledgement: fdatasync; dsync: "
        "every write to the log is synchronous (dfs.namenode.edits.noeditlogchannelflush)",
    )
    asynchronous: bool = Field(
        default=True,
        description="a separate thread writes and syncs the log "
        "(dfs.namenode.edits.asynclogging), so that RPC handlers do not wait. The benchmark has "
        "no RPC, and its threads wait for their sync in both cases",
    )
    version: str | None = Field(
        None,
        pattern=VERSION.pattern,
        description=f"of Hadoop; by default that of HADOOP_HOME, else {DEFAULT_VERSION} from Maven",
    )
    heap: Size | None = Field(
        None, description="maximum heap of the NameNode; by default Java's own choice"
    )

    @field_validator("logs")
    @classmethod
    def _has_a_log(cls, logs: tuple[str, ...]) -> tuple[str, ...]:
        if NO_LOG in logs:
            raise ValueError(
                "a name-node does not start without an edit log; open shows its cost, because it "
                "needs none, and nnthroughput, which can do without"
            )
        return logs

    @field_validator("operations")
    @classmethod
    def _each_once(cls, operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
        if not operations or len(set(operations)) < len(operations):
            raise ValueError("name one operation or several, and each once")
        return operations


@dataclass(frozen=True)
class HadoopNNThroughput(LoggingWorkload, HadoopWorkload):
    """Every operation has a new NameNode, a new namespace and new logs."""

    options: HadoopNNThroughputOptions
    log_folder = _FOLDER

    def space_bytes(self) -> int:
        """Return the space of the logs of one operation; they are removed before the next one."""
        return self.logs.most_on_a_disk * (self.options.files * _FILE_BYTES + _FREE_BYTES)

    def check(self) -> None:
        """Refuse directories that cannot be written to; have Java, Hadoop and a network at hand."""
        self.logs.check()
        _software(self.options.version)
        confinement.find_exposure()

    def preparation(self) -> str:
        """Trials of a Hadoop and with the same logs share a formatted, empty namespace."""
        return f"{self.options.version} {self.logs.key}"

    def prepare(self, place: Place) -> None:
        """Format a namespace that every operation gets a copy of. UsageError in a foreign place."""
        if place.account is not None:
            raise UsageError(
                "a directory that belongs to root, as the name-node runs as root",
                found=f"{place.directory} belongs to {place.account.name}",
                where="the target of the study",
                remedy="name a directory of root's on the same file system, or run iostudy as "
                f"{place.account.name}",
            )
        self.clean(place)
        self.logs.make_folders(place)
        namenode = self._namenode(place)
        with translate_core_errors("to make a folder for a name-node", place.directory):
            namenode.template.mkdir(parents=True)
        namenode.format()

    def run(self, place: Place) -> Measurement:
        """Carry out all operations; an error in the log of one, or a count that is wrong, fails."""
        namenode = self._namenode(place)
        results = {
            operation: namenode.benchmark(operation, place.tick)
            for operation in self.options.operations
        }
        exposure = confinement.find_exposure()
        return Measurement(_readings(results), notes=(exposure,) if exposure else ())

    def clean(self, place: Place) -> None:
        """Remove the logs, the folders that they are in, and the name-node's own."""
        self.logs.remove(place)
        remove(_home(place))

    def _namenode(self, place: Place) -> _NameNode:
        return _NameNode(self.options, _home(place), self.logs.folders(place))


def _home(place: Place) -> Path:
    """Return the working folder, which no log shares."""
    return place.directory / f"{_FOLDER}-home"


@dataclass(frozen=True)
class _NameNode:
    """The NameNode of a place: its configuration and its command."""

    options: HadoopNNThroughputOptions
    home: Path
    logs: Sequence[Path]

    @property
    def template(self) -> Path:
        """A formatted namespace: its image and one log."""
        return self.home / "formatted"

    def format(self) -> None:
        """Make the template. WorkloadError with what Hadoop says."""
        image, log = self.template / "image", self.template / "log"
        arguments = (nnthroughput.NAMENODE_CLASS, "-format", "-nonInteractive")
        self._run(_SHORT_RUN, arguments, image, [log], continue_run).require_success()

    def benchmark(self, operation: Operation, tick: Tick) -> NNThroughputResult:
        """Carry out one operation on an empty namespace. WorkloadError if anything is amiss."""
        request = self._request(operation)
        image = self.home / "image"
        with translate_core_errors("to give a name-node an empty namespace", self.home):
            for source, made in (("image", image), *(("log", log) for log in self.logs)):
                made.mkdir(parents=True, exist_ok=True)
                empty(made)
                shutil.copytree(self.template / source, made, dirs_exist_ok=True)
        arguments = (nnthroughput.MAIN_CLASS, *request.arguments())
        ended = self._run((), arguments, image, self.logs, tick)
        log = self._log()
        _require_sound(log, ended.program)
        ended.require_success(job.find_exceptions(f"{log}{ended.stderr.text}"))
        try:
            return request.result(log)
        except NoResultError as error:
            raise _unsound(str(error), ended.program) from error

    def _request(self, operation: Operation) -> NNThroughputRun:
        options = self.options
        name = "fileStatus" if operation == "file-status" else operation
        return NNThroughputRun(name, options.files, options.threads, options.files_per_directory)

    def _run(
        self,
        java_options: tuple[str, ...],
        arguments: tuple[str, ...],
        image: Path,
        logs: Sequence[Path],
        tick: Tick,
    ) -> ProgramResult:
        """Run a Hadoop class with its own conf folder and log."""
        software = _software(self.options.version)
        conf, temporary = self.home / "conf", self.home / "tmp"
        with translate_core_errors("to write the configuration of a name-node", self.home):
            temporary.mkdir(exist_ok=True)
            (self.home / _LOG).unlink(missing_ok=True)
            folder.write(conf, self._configuration(image, logs), _LOG)
        heap = None if self.options.heap is None else str(self.options.heap)
        command = (
            str(software.java.path),
            *software.java.options,
            *process_options(heap, temporary),
            *java_options,
            f"-Dhadoop.log.dir={self.home}",
            "-Duser.timezone=UTC",
            *("-cp", f"{conf}:{software.distribution.classpath}", *arguments),
        )
        # It authenticates nobody, and writes files where its administrators say.
        isolated = confinement.isolate(command, self.home)
        requested = Program(isolated, self.home, self.options.limit)

        def watch(done: int) -> bool:
            # A thread that fails ends alone, and the benchmark would wait for it for ever.
            _require_sound(self._log(), requested)
            return tick(done)

        return program.run(requested, watch)

    def _configuration(self, image: Path, logs: Sequence[Path]) -> HadoopConfiguration:
        """Return the configuration: the workload's folders, and addresses on the loopback only."""
        options = self.options
        return HadoopConfiguration.with_all(
            {
                "hadoop.tmp.dir": str(self.home / "tmp"),
                "dfs.namenode.name.dir": image.as_uri(),
                "dfs.namenode.edits.dir": ",".join(log.as_uri() for log in logs),
                "dfs.namenode.edits.asynclogging": str(options.asynchronous).lower(),
                "dfs.namenode.edits.noeditlogchannelflush": str(options.sync == "dsync").lower(),
                # A new segment of the log would begin to count the transactions anew.
                "dfs.namenode.edit.log.autoroll.multiplier.threshold": "1e6",
                "dfs.namenode.rpc-bind-host": "127.0.0.1",
                "dfs.namenode.http-bind-host": "127.0.0.1",
            }
        )

    def _log(self) -> str:
        path = self.home / _LOG
        return path.read_text(errors="replace") if path.exists() else ""


@dataclass(frozen=True)
class _Software:
    java: Java
    distribution: Distribution


@functools.cache
def _software(version: str | None) -> _Software:
    """Return the software, checked once: 100 MB of jars are not verified in a measured time."""
    distribution = artifacts.distribution(version)
    return _Software(java.find_java(distribution.version), distribution)


def _require_sound(log: str, requested: Program) -> None:
    errors = nnthroughput.find_errors(log)
    if errors:
        first = f"{errors[0][:_MOST_CHARACTERS]} {job.find_exceptions(log)}"
        raise _unsound(f"{len(errors)} errors in its log: {first}", requested)


def _unsound(found: str, requested: Program) -> WorkloadError:
    return WorkloadError(
        "NNThroughputBenchmark without errors, with everything that was requested",
        found=found,
        where=str(requested),
        remedy="see whether the directories of the logs have room and can be written to; give a "
        "larger heap if memory is short, and more files if they took no time",
    )


def _readings(results: dict[Operation, NNThroughputResult]) -> dict[str, float]:
    operations = sum(result.operations for result in results.values())
    seconds = math.fsum(result.milliseconds for result in results.values()) / 1000
    readings = {"rate": operations / seconds, "exec_time": seconds}
    for operation, result in results.items():
        readings[f"{operation}_rate"] = 1000 * result.operations / result.milliseconds
        readings[f"{operation}_time"] = float(result.mean_milliseconds)
        if operation in ALONE_IN_LOG:
            readings[f"{operation}_per_sync"] = result.transactions / result.syncs
    return readings | opens_per_create(readings)


def _figures(options: HadoopNNThroughputOptions) -> tuple[Figure, ...]:
    """Return the figures, without bytes moved: syncs of partial pages are unknown."""
    operations = options.operations
    return (
        *rate_figures(operations),
        Figure("exec_time", "s", "sum of the times of all phases", False),
        *(
            Figure(
                f"{operation}_time",
                "ms",
                f"mean time of one {operation} (NNThroughputBenchmark: Average Time), without the "
                "fraction",
                False,
            )
            for operation in operations
        ),
        *(
            Figure(
                f"{operation}_per_sync",
                "op",
                "transactions per sync, over the whole life of the NameNode",
                True,
            )
            for operation in operations
            if operation in ALONE_IN_LOG
        ),
    )


HADOOP_NNTHROUGHPUT = WorkloadDefinition(
    name="hadoop.nnthroughput",
    models="NNThroughputBenchmark with a real NameNode in its own process: no RPC and no cluster. "
    "One Java is started per operation, on an empty namespace with new logs; Maven fetches "
    "the jars unless HADOOP_HOME names them. An error in the NameNode's log is an error, "
    "including that of a log directory that a NameNode would drop; so is a log with fewer "
    "transactions than requested",
    not_modelled=f"blockReport, and a NameNode without a log, which does not exist; with {NO_LOG} "
    "see nnthroughput. Preallocation of the log is fixed at 1 MiB. Files that are opened, "
    "renamed or deleted are created and closed before, unmeasured, in the same log. The "
    "benchmark's main thread polls, which takes one CPU from the NameNode. Its clock counts "
    "milliseconds, so few files give coarse rates. No limit on batches, no checkpoint",
    source="Apache Hadoop 3.4.2, org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark "
    "(hadoop-hdfs, tests); HADOOP-3860",
    options=HadoopNNThroughputOptions,
    figures=_figures,
    make=HadoopNNThroughput,
    spins=lambda _: True,
    measured_seconds="exec_time",
    example={"files": 5000, "operations": "create, open"},
)
