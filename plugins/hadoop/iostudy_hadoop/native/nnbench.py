"""Metadata operations of NNBench and mdtest on a plain directory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from iostudy import _native
from iostudy.errors import WorkloadError
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.native.steady import NativeMeter, NativeSteadyRun, window_names
from iostudy.workloads.option_types import Count, Options, TextList
from iostudy.workloads.windows import SteadyRun
from iostudy.workloads.workload import Place, Workload
from iostudy_hadoop.native.edit_logs import operation_readings
from iostudy_hadoop.native.option_types import SizeOrNothing

Operation = Literal[
    "create_write", "open_read", "stat", "list", "rename", "delete", "mkdir", "rmdir"
]
_MEANINGS: dict[Operation, str] = {
    "create_write": "files created, written and closed (NNBench counts two transactions for each, "
    "so that its TPS is twice this; mdtest: File creation)",
    "open_read": "files opened, read to their end, verified and closed (mdtest: File read)",
    "stat": "files whose attributes were read (mdtest: File stat)",
    "list": "directories read to their end, all names compared",
    "rename": "files given another name in their directory",
    "delete": "files unlinked (mdtest: File removal)",
    "mkdir": "empty directories made (mdtest: Directory creation)",
    "rmdir": "empty directories removed (mdtest: Directory removal)",
}
_READING: frozenset[Operation] = frozenset(("open_read", "stat", "list"))
_DOING = "to carry out the metadata operations"
_BLOCK_BYTES = 4096
_GROUP_BLOCKS = 4
"""Bitmaps and descriptor of a group, and one for a part of a block of inodes."""
_ENTRY_BYTES = 512
"""Upper bound of an inode and its name, with the defaults of ext4 (256) and XFS (512)."""


class NNBenchOptions(Options):
    """Options of nnbench."""

    operations: TextList[Operation] = Field(
        ("create_write", "open_read", "rename", "delete"),
        description="the phases in their order, each of them once and after the one before has "
        f"ended (NNBench: -operation, one a run): {', '.join(get_args(Operation))}. Files that the "
        "first operation needs are made before, unmeasured, and read from a dropped cache",
    )
    threads: Annotated[int, Field(ge=1, le=4096)] = Field(
        4, description="threads that work at the same time (NNBench: -maps)"
    )
    files: Count = Field(
        10_000, description="files of each thread, or directories (NNBench: -numberOfFiles)"
    )
    bytes_to_write: SizeOrNothing = Field(
        0, description="size of each file (NNBench: -bytesToWrite; mdtest: -w)"
    )
    files_per_directory: Count = Field(
        10_000, description="the most files in one directory (mdtest: -I)"
    )
    depth: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="levels of directories down to the files (mdtest: -z and -L)"
    )
    shared: bool = Field(
        default=True,
        description="all threads work in the same directories; false: each in a tree of its own "
        "(mdtest: -u)",
    )
    sync: Literal["none", "file", "directory", "phase"] = Field(
        "phase",
        description="what is made durable within the measured time: none; file: fsync of each file "
        "that is created (mdtest: -y); directory: also fsync of the directory after every change; "
        "phase: syncfs at the end of each phase that changes something",
    )

    @model_validator(mode="after")
    def _possible(self) -> NNBenchOptions:
        _job(self, Path("/"), self.operations, seed=0)
        return self


@dataclass(frozen=True)
class NNBench(Workload):
    """All phases are one run, whose initial files exist when it starts."""

    options: NNBenchOptions

    def space_bytes(self) -> int:
        """Return the blocks of data, entries, and two blocks for every directory of the tree.

        The second one is that of its inode, which a simulated file system places alone.
        """
        options = self.options
        items = options.files * options.threads
        blocks = math.ceil(options.bytes_to_write / _BLOCK_BYTES)
        leaves = items // min(options.files_per_directory, options.files) + options.threads
        made = items * ("mkdir" in options.operations)
        directories = made + 2 * leaves * options.depth + _GROUP_BLOCKS
        entries = (items + made) * _ENTRY_BYTES
        return entries + (items * blocks + directories) * _BLOCK_BYTES

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Unknown: metadata are no matter of bytes."""
        return None

    def reads(self) -> bool:
        """Whether the first phase finds existing files; it must not find them in a cache."""
        return bool(self._needs)

    def preparation(self) -> str:
        """Trials that only read share their files."""
        if not self._keeps:
            return ""
        return f"{self._needs} {self.options.model_dump_json(exclude={'operations', 'sync'})}"

    def prepare(self, place: Place) -> None:
        """Make what all trials of the block only read."""
        if self._keeps:
            self._make(place)

    def reset(self, place: Place) -> None:
        """Give every trial that changes files an empty folder or new files."""
        if not self._keeps:
            self.clean(place)
            self._make(place)

    def run(self, place: Place) -> Measurement:
        """Carry out all phases and give the rate and the latencies of each."""
        phases = self._run(place, self.options.operations)
        latencies = {phase.operation: compact_histogram(phase.latencies) for phase in phases}
        return Measurement(_readings(phases), latencies)

    def unsteady_reason(self) -> str:
        """Operations on the same files again find them in caches, or made already."""
        options = self.options
        if not _job(options, Path("/"), options.operations, seed=0).is_cycle:
            return (
                "its operations do not leave the tree as they find it, empty, so that they cannot "
                "be repeated; begin with create_write and end with delete, without list"
            )
        if options.sync not in ("file", "directory"):
            return "changes reach the disk only after their phase; sync: directory syncs each one"
        return ""

    def steady_run(self, place: Place) -> SteadyRun:
        """All operations on a few files of each thread, then on the next ones."""
        operations = self.options.operations
        job = self._job(place, operations)
        meter = NativeMeter(partial(operation_readings, operations))
        return NativeSteadyRun(meter, job.repeat, place, _DOING)

    def clean(self, place: Place) -> None:
        """Remove the tree, several directories at a time."""
        with translate_core_errors("to remove the files of the workload", place.directory):
            _native.remove_tree(str(_tree(place)))

    @property
    def _needs(self) -> list[str]:
        return _job(self.options, Path("/"), self.options.operations, seed=0).required_operations

    @property
    def _keeps(self) -> bool:
        return _READING.issuperset(self.options.operations)

    def _make(self, place: Place) -> None:
        if needs := self._needs:
            self._run(place, needs)

    def _run(self, place: Place, operations: Sequence[str]) -> list[_native.Phase]:
        job = self._job(place, operations)
        with translate_core_errors(_DOING, place.directory):
            return place.run(job)

    def _job(self, place: Place, operations: Sequence[str]) -> _native.MetadataJob:
        try:
            return _job(self.options, _tree(place), operations, seed=place.seed)
        except ValueError as error:
            raise WorkloadError(
                "a tree of directories of that depth",
                found=str(error),
                where=str(place.directory),
                remedy="give less depth, or a target with a shorter path",
            ) from error


def _tree(place: Place) -> Path:
    return place.directory / "nnbench"


def _job(
    options: NNBenchOptions, directory: Path, operations: Sequence[str], *, seed: int
) -> _native.MetadataJob:
    return _native.MetadataJob(
        str(directory),
        operations=operations,
        threads=options.threads,
        files=options.files,
        files_per_directory=options.files_per_directory,
        depth=options.depth,
        shared=options.shared,
        bytes_to_write=options.bytes_to_write,
        sync=options.sync,
        seed=seed,
    )


def _readings(phases: Sequence[_native.Phase]) -> dict[str, float]:
    seconds = math.fsum(phase.wall_seconds for phase in phases)
    readings = {"rate": sum(phase.latencies.count for phase in phases) / seconds}
    for phase in phases:
        readings[f"{phase.operation}_rate"] = phase.latencies.count / phase.wall_seconds
    readings["exec_time"] = seconds
    for phase in phases:
        readings |= latency_readings(phase.latencies, f"{phase.operation}_latency")
    return readings


def _figures(options: NNBenchOptions) -> tuple[Figure, ...]:
    """Return the figures, without bytes moved: journals, inodes and directories are unknown."""
    rates = [
        Figure(f"{operation}_rate", "op/s", _MEANINGS[operation], True)
        for operation in options.operations
    ]
    latencies = [
        figure
        for operation in options.operations
        for figure in latency_figures(f"one {operation}", f"{operation}_latency")
    ]
    return (
        Figure("rate", "op/s", "operations of all phases over the sum of their times", True),
        *rates,
        Figure("exec_time", "s", "the sum of the times of all phases", False),
        *latencies,
    )


NNBENCH = WorkloadDefinition(
    name="nnbench",
    models="NNBench: many clients create, read, rename and delete small files at the same time. "
    "Also mdtest's directory creation and removal, file stat, and reading of directories",
    not_modelled="the name-node with its RPC, locks and edit log, and the start of map tasks; "
    "failed operations (NNBench counts exceptions and continues; here the first one fails the "
    "run); mdtest's random order, neighbour's files, tree creation and tree removal. Each phase "
    "after the first finds cached data of the phase before it, as in NNBench and mdtest",
    source="Apache Hadoop, org.apache.hadoop.hdfs.NNBench (hadoop-mapreduce-client-jobclient); "
    "mdtest of https://github.com/hpc/ior",
    options=NNBenchOptions,
    figures=_figures,
    make=NNBench,
    concurrency_options=("threads",),
    steady_when="where operations begin with create_write and end with delete, or with mkdir and "
    "rmdir, and sync is file or directory; groups of files go through all operations",
    window_figures=lambda options: window_names(_figures(options), "rate"),
    can_be_simulated=True,
    example={"threads": 2, "files": 2000},
)
