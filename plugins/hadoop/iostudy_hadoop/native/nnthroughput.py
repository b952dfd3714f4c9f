"""Write path of a name-node: an in-memory tree of files with an edit log on disk."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from iostudy import _native, units
from iostudy.errors import WorkloadError
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, SerialResource, WorkloadDefinition
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.native.steady import NativeMeter, NativeSteadyRun, window_names
from iostudy.workloads.option_types import MAX_COUNT, Seconds
from iostudy.workloads.tick import Tick
from iostudy.workloads.windows import SteadyRun
from iostudy.workloads.workload import Place
from iostudy_hadoop.native.edit_logs import (
    NO_LOG,
    READ_ONLY_OPERATIONS,
    LoggingWorkload,
    NamespaceOptions,
    opens_per_create,
    operation_readings,
    rate_figures,
)
from iostudy_hadoop.native.option_types import SizeOrNothing

_DOING = "to serve a namespace with its edit log"
_RECORD_BYTES = 64
"""Upper bound of a record with paths of this length."""
_HEAD_BYTES = 28
"""Bytes before the records that share a sync; a record may have its own."""
_PAGE_BYTES = 4096


class NNThroughputOptions(NamespaceOptions):
    """Options of nnthroughput."""

    workers: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None,
        description="threads that execute the concurrent operations, by default one per CPU. With "
        "as many as threads, each operation has a thread that sleeps until its "
        "acknowledgement, and the context switches are measured too",
    )
    order: Literal["in-turn", "parallel"] = Field(
        "in-turn",
        description="order of writes to several logs: one after another, as a NameNode does, or "
        "all at once",
    )
    sync: Literal["fdatasync", "dsync", "none"] = Field(
        "fdatasync",
        description="how a batch becomes durable before its acknowledgement: fdatasync; dsync: "
        "the log is opened with O_DSYNC; none: never, so a crash of the machine loses "
        "acknowledged operations",
    )
    preallocate: SizeOrNothing = Field(
        units.MIB,
        description="preallocation of the log in pieces of this size, filled with zeros, so that "
        "a sync does not change the file size (HADOOP-2330); 0: none",
    )
    record_bytes: Annotated[int, Field(ge=0, le=16384)] = Field(
        0,
        description="minimum size of a log record in bytes, reached by padding; 0: the natural "
        "size, about 50 bytes",
    )
    batch_records: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        0, description="most mutations per sync; 0: no limit"
    )
    batch_wait: Annotated[Seconds, Field(le=1)] | None = Field(
        None,
        description="time for which the first mutation of a batch waits for others, by default "
        "until the operations acknowledged last are back, where that takes less time than a "
        "sync; 0: no time, so a batch has what came during the last sync",
    )
    checkpoint_every: Annotated[int, Field(ge=0, le=MAX_COUNT)] = Field(
        0,
        description="mutations between two checkpoints, each an image of the whole tree next to "
        "each log (dfs.namenode.checkpoint.txns); 0: no checkpoints",
    )

    @model_validator(mode="after")
    def _possible(self) -> NNThroughputOptions:
        _job(self, [])
        return self


@dataclass(frozen=True)
class NNThroughput(LoggingWorkload):
    """A new, empty namespace for every trial."""

    options: NNThroughputOptions
    log_folder = "nnthroughput"

    def space_bytes(self) -> int:
        """Return the space of all logs on a disk, their images, and the preallocation."""
        options = self.options
        mutations = options.files * (1 + len(set(options.operations) - READ_ONLY_OPERATIONS))
        record = max(_RECORD_BYTES, options.record_bytes) + _HEAD_BYTES
        images = 2 * options.files * _RECORD_BYTES if options.checkpoint_every else 0
        return self.logs.most_on_a_disk * (
            mutations * record + images + options.preallocate + _PAGE_BYTES
        )

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Unknown: syncs are no matter of bytes."""
        return None

    def check(self) -> None:
        """Refuse directories that cannot be written to."""
        self.logs.check()

    def preparation(self) -> str:
        """Nothing is made, but old logs are removed before new ones are written."""
        return self.logs.key

    def reset(self, place: Place) -> None:
        """Remove the logs, so that every trial starts without one."""
        self.logs.make_folders(place)

    def run(self, place: Place) -> Measurement:
        """Run all phases; compare each log with the served tree afterwards."""
        with translate_core_errors(_DOING, place.directory):
            outcome = _job(self.options, self.logs.folders(place)).run(place.tick)
        phases = outcome.phases
        return Measurement(
            _readings(phases, self.options),
            {phase.operation: compact_histogram(phase.latencies) for phase in phases},
            departures=tuple(f"a log failed: {dropped}" for dropped in outcome.failed_logs),
            verify=partial(_verify, outcome, place),
        )

    def unsteady_reason(self) -> str:
        """Operations can be repeated only on files as they found them."""
        options = self.options
        if not _job(options, []).is_cycle:
            return (
                "its operations do not leave the files as they find them, so that they cannot be "
                "repeated; begin with create and end with delete, without mkdirs"
            )
        if options.sync == "none":
            return "its log is never synced, so that operations complete before they reach a disk"
        return ""

    def steady_run(self, place: Place) -> SteadyRun:
        """All operations on a few files of each worker, then on the next ones; the log grows."""
        operations = self.options.operations
        job = _job(self.options, self.logs.folders(place))

        def repeat(log: _native.WindowLog, tick: Tick) -> None:
            failed_logs = job.repeat(log, tick)
            if failed_logs:
                raise WorkloadError(
                    "every log to be written",
                    found="; ".join(failed_logs),
                    where=str(place.directory),
                    remedy="make room on its disk, or see the kernel's log (dmesg)",
                )

        meter = NativeMeter(partial(operation_readings, operations))
        return NativeSteadyRun(meter, repeat, place, _DOING)

    def clean(self, place: Place) -> None:
        """Remove the logs, and the folders that they are in."""
        self.logs.remove(place)


def _verify(outcome: _native.NamespaceOutcome, place: Place) -> None:
    with translate_core_errors("to replay an edit log", place.directory):
        outcome.verify()


def _workers(options: NNThroughputOptions) -> int:
    return options.workers or min(options.threads, len(os.sched_getaffinity(0)))


def _job(options: NNThroughputOptions, logs: Sequence[Path]) -> _native.NamespaceJob:
    return _native.NamespaceJob(
        [str(log) for log in logs],
        order=options.order,
        sync=options.sync,
        preallocate=options.preallocate,
        record_bytes=options.record_bytes,
        batch_records=options.batch_records,
        batch_wait_seconds=options.batch_wait,
        operations=options.operations,
        files=options.files,
        files_per_directory=options.files_per_directory,
        threads=options.threads,
        workers=_workers(options),
        checkpoint_every=options.checkpoint_every,
    )


def _readings(
    phases: Sequence[_native.NamespacePhase], options: NNThroughputOptions
) -> dict[str, float]:
    seconds = math.fsum(phase.wall_seconds for phase in phases)
    readings = {"rate": sum(phase.latencies.count for phase in phases) / seconds}
    for phase in phases:
        readings[f"{phase.operation}_rate"] = phase.latencies.count / phase.wall_seconds
    readings |= opens_per_create(readings)
    readings["exec_time"] = seconds
    readings |= _shares(phases, "", options)
    for phase in phases:
        readings |= latency_readings(phase.latencies, f"{phase.operation}_latency")
        if phase.operation not in READ_ONLY_OPERATIONS:
            readings |= _phase_log_figures(phase, options)
    return readings


def _phase_log_figures(
    phase: _native.NamespacePhase, options: NNThroughputOptions
) -> dict[str, float]:
    """Return the log's figures in one phase."""
    prefix, wall = f"{phase.operation}_", phase.wall_seconds
    readings = _shares([phase], prefix, options)
    if phase.batches:
        readings[f"{prefix}bytes"] = phase.log_bytes / phase.mutations
    if phase.batches and options.sync != "none":
        readings |= {
            f"{prefix}per_sync": phase.mutations / phase.batches,
            f"{prefix}syncs": phase.batches / wall,
        }
    return readings


def _shares(
    phases: Sequence[_native.NamespacePhase], prefix: str, options: NNThroughputOptions
) -> dict[str, float]:
    """Return the shares of the workers' time, and with a log those of the phases.

    ``prefix`` is that of the figures' names.
    """
    seconds = math.fsum(phase.wall_seconds for phase in phases)
    of_workers = 100 / (_workers(options) * seconds)
    shares = {
        f"{prefix}lock_share": of_workers * math.fsum(phase.lock_seconds for phase in phases),
        f"{prefix}buffer_share": of_workers * math.fsum(phase.buffer_seconds for phase in phases),
        f"{prefix}sync_share": of_workers * math.fsum(phase.sync_seconds for phase in phases),
    }
    if options.logs != (NO_LOG,):
        writing = math.fsum(phase.writing_seconds for phase in phases)
        shares[f"{prefix}writing_share"] = 100 * writing / seconds
    return shares


def _one_by_one(options: NNThroughputOptions) -> tuple[SerialResource, ...]:
    """The tree's lock, and the log: its batches are written one after the other."""
    tree = SerialResource("the tree", ("lock_share",))
    if options.logs == (NO_LOG,):
        return (tree, SerialResource("the count of transactions", ("buffer_share",)))
    synced = "written" if options.sync == "none" else "synced"
    several = len(options.logs)
    if several == 1:
        log = f"{synced} batch by batch"
    elif options.order == "in-turn":
        log = f"{several} copies, {synced} one after the other"
    else:
        log = f"{several} copies, {synced} together, batch by batch"
    # A limit on a batch is room that the log has to make; without one it is only filled in turn.
    if options.batch_records:
        return (
            tree,
            SerialResource(log, ("buffer_share", "sync_share"), "writing_share", stores=True),
        )
    return (
        tree,
        SerialResource("the log's buffer", ("buffer_share",)),
        SerialResource(log, ("sync_share",), "writing_share", stores=True),
    )


def _batches_at_once(options: NNThroughputOptions) -> int | None:
    """Return the number of concurrent batches: one, log by log or to all at once."""
    if options.logs == (NO_LOG,):
        return None
    return len(options.logs) if options.order == "parallel" else 1


def _figures(options: NNThroughputOptions) -> tuple[Figure, ...]:
    """Return the figures, without bytes moved: syncs of partial pages are unknown."""
    of_each = [
        figure
        for operation in options.operations
        for figure in (
            *latency_figures(f"one {operation}, to its acknowledgement", f"{operation}_latency"),
            *(() if operation in READ_ONLY_OPERATIONS else _log_figures(operation, options)),
        )
    ]
    return (
        *rate_figures(options.operations),
        Figure("exec_time", "s", "sum of the times of all phases", False),
        *_share_figures("", options),
        *of_each,
    )


def _log_figures(operation: str, options: NNThroughputOptions) -> tuple[Figure, ...]:
    shares = _share_figures(f"{operation}_", options)
    if options.logs == (NO_LOG,):
        return shares
    syncs = (
        Figure(f"{operation}_per_sync", "op", "mutations per sync", True),
        Figure(f"{operation}_syncs", "1/s", "syncs of each log", True),
    )
    return (
        Figure(f"{operation}_bytes", "B", "bytes of the log per mutation", False),
        *(syncs if options.sync != "none" else ()),
        *shares,
    )


def _share_figures(prefix: str, options: NNThroughputOptions) -> tuple[Figure, ...]:
    """Return the figures of a phase, or of all; ``prefix`` begins their names."""
    time = "time" if prefix else "time in all phases"
    waits = tuple(
        Figure(f"{prefix}{name}_share", "%", f"of their {time}, workers waited {words}", False)
        for name, words in {
            "lock": "for the tree, which another one was changing",
            "buffer": "for the log's buffer, or for room in it",
            "sync": "for acknowledgements, with nothing else to begin",
        }.items()
    )
    if options.logs == (NO_LOG,):
        return waits
    writing = f"of the {time}, the log was written and synced"
    return (*waits, Figure(f"{prefix}writing_share", "%", writing, False))


NNTHROUGHPUT = WorkloadDefinition(
    name="nnthroughput",
    models="NNThroughputBenchmark: operations that a NameNode serves and makes durable in its "
    "edit log. The model also fits a JournalNode, ZooKeeper, etcd or Kafka, which "
    "acknowledge after a log sync",
    not_modelled="RPC, permissions, quotas, snapshots, leases, blocks and their reports, and "
    "trees larger than memory. A thread per CPU executes the concurrent operations, like a "
    "NameNode with an asynchronous edit log, whose RPC handlers do not wait. A batch of a NameNode "
    "does not wait for the operations of the last one, as with batch_wait: 0. "
    "NNThroughputBenchmark has no RPC and a thread per operation (workers: as many)",
    source="Apache Hadoop, org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark; "
    "HADOOP-3860; HADOOP-2330",
    options=NNThroughputOptions,
    figures=_figures,
    make=NNThroughput,
    count_requests=_batches_at_once,
    serial_resources=_one_by_one,
    measured_seconds="exec_time",
    example={"files": 20000},
    steady_when="where operations begin with create and end with delete, and the log is synced; "
    "groups of files go through all operations, and the log grows",
    window_figures=lambda options: window_names(_figures(options), "rate"),
)
