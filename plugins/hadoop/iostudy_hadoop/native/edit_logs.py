"""Common parts of the name-node benchmarks: operations, counts and edit-log directories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import AfterValidator, Field

from iostudy import units
from iostudy._native import IoStats
from iostudy.workloads.definition import Figure
from iostudy.workloads.directories import find_disk, make_folder, own_folders, refuse_unfit
from iostudy.workloads.file_removal import remove
from iostudy.workloads.native.steady import window_percentiles
from iostudy.workloads.option_types import Count, Options, TextList, at_most
from iostudy.workloads.workload import Place, Workload

Operation = Literal["create", "open", "rename", "delete", "mkdirs", "file-status"]
MEANINGS: Mapping[Operation, str] = {
    "create": "empty files made and left open",
    "open": "files whose blocks were looked up; needs no log",
    "rename": "files given another name in their directory",
    "delete": "files deleted",
    "mkdirs": "directories made",
    "file-status": "files whose attributes were read; needs no log",
}
READ_ONLY_OPERATIONS: frozenset[Operation] = frozenset(("open", "file-status"))
"""They change nothing, and so write nothing into a log."""
OPENS_PER_CREATE = Figure(
    "opens_per_create",
    "op",
    "opens in the time of one create: how much a namespace's speed depends on its log",
    higher_is_better=False,
)
NO_LOG = "none"
_ON_DISK = ":"


def rate_figures(operations: Sequence[Operation]) -> tuple[Figure, ...]:
    """Return the figures of all operations, of each, and the ratio of reads to mutations."""
    return (
        Figure("rate", "op/s", "operations of all phases over the sum of their times", True),
        *(
            Figure(f"{operation}_rate", "op/s", MEANINGS[operation], True)
            for operation in operations
        ),
        *((OPENS_PER_CREATE,) if {"open", "create"} <= set(operations) else ()),
    )


def opens_per_create(rates: Mapping[str, float]) -> dict[str, float]:
    """Return the ratio of opens to creates; nothing if one is missing."""
    if not {"open_rate", "create_rate"} <= rates.keys():
        return {}
    return {OPENS_PER_CREATE.name: rates["open_rate"] / rates["create_rate"]}


def operation_readings(
    operations: Sequence[str], stats: Sequence[IoStats], seconds: float
) -> dict[str, float]:
    """Rates and percentiles of single operations, in the order of their counts."""
    by_name = dict(zip(operations, stats, strict=True))
    counts = {name: counted.latencies.count for name, counted in by_name.items()}
    readings = {"rate": sum(counts.values()) / seconds}
    readings |= {f"{name}_rate": count / seconds for name, count in counts.items()}
    for name, counted in by_name.items():
        readings |= window_percentiles(counted.latencies, f"{name}_latency")
    return readings


def _is_elsewhere(log: str) -> bool:
    return Path(log).is_absolute()


def _log(name: str) -> str:
    """A folder in the target or in a named place, or an absolute path; ValueError for others."""
    disk, colon, folder = name.rpartition(_ON_DISK)
    is_name = Path(folder).name == folder and folder not in ("", ".", "..")
    if not _is_elsewhere(name) and not (is_name and bool(disk) == bool(colon)):
        raise ValueError(
            f"{name!r} is neither the name of a folder in the target, nor one on a further disk or "
            "in another directory such as disk2:log, nor an absolute path such as /disk2/journal"
        )
    return name


def _each_once(logs: tuple[str, ...]) -> tuple[str, ...]:
    # Also by way of a link or .. it is the same: two logs would be in one folder.
    if len(set(map(os.path.realpath, logs))) < len(logs):
        raise ValueError("a log occurs twice; name each once")
    if NO_LOG in logs and len(logs) > 1:
        raise ValueError(f"{NO_LOG} excludes other logs; write it alone")
    return logs


MAX_FILES = 10**9
"""Limit of a namespace in memory: HDFS's largest have about as many files and blocks."""


class NamespaceOptions(Options):
    """Options of a namespace for all its servers."""

    operations: TextList[Operation] = Field(
        ("create", "open", "rename", "delete"),
        description="phases in order, each once, one after another (NNThroughputBenchmark: -op): "
        f"{', '.join(get_args(Operation))}. Missing files that a phase requires are created "
        "before it, unmeasured",
    )
    files: Annotated[Count, at_most(MAX_FILES, units.format_count)] = Field(
        100_000,
        description="number of files or directories: every phase performs one operation on each "
        "(NNThroughputBenchmark: -files)",
    )
    threads: Annotated[int, Field(ge=1, le=65536)] = Field(
        256,
        description="concurrent operations, like the handlers of a NameNode "
        "(NNThroughputBenchmark: -threads)",
    )
    files_per_directory: Count = Field(
        100, description="files per directory (NNThroughputBenchmark: -filesPerDir)"
    )
    logs: Annotated[
        TextList[Annotated[str, AfterValidator(_log)]],
        AfterValidator(_each_once),
        Field(min_length=1),
    ] = Field(
        ("log",),
        description="directories of the edit log: names of folders in the target; NAME:FOLDER on a "
        "further disk of the study or in a directory that it compares; or absolute paths on other "
        "disks and mounts. There iostudy makes a folder of its own. Each directory holds a copy "
        f"(dfs.namenode.edits.dir); {NO_LOG}: no log. Then nothing is durable, which no real "
        "NameNode allows",
    )


@dataclass(frozen=True)
class EditLogs:
    """The directories of the logs in the options.

    Logs on the target lie below ``name``; all others in folders whose name starts with
    ``iostudy-`` and ``name``.
    """

    logs: tuple[str, ...]
    name: str

    @classmethod
    def from_options(cls, options: NamespaceOptions, name: str) -> EditLogs:
        """Return the logs of the options; none for NO_LOG."""
        return cls(() if options.logs == (NO_LOG,) else options.logs, name)

    @property
    def directories(self) -> tuple[Path, ...]:
        """Return the user's directories, given as absolute paths."""
        return tuple(Path(log) for log in self.logs if _is_elsewhere(log))

    @property
    def disks(self) -> frozenset[str]:
        """Return the names of the further disks that hold a log."""
        return frozenset(filter(None, self._disk_of_each))

    @property
    def most_on_a_disk(self) -> int:
        """Return the largest number of logs on one disk of the study."""
        return max(Counter(self._disk_of_each).values(), default=0)

    @property
    def key(self) -> str:
        """Return the logs' part of a preparation key, so that each trial cleans its own logs."""
        return " ".join(self.logs)

    def check(self) -> None:
        """Refuse directories that cannot be written to; TargetError says which."""
        refuse_unfit(self.directories, "for an edit log")

    def folders(self, place: Place) -> list[Path]:
        """Return a folder for each log in order; TargetError if the place lacks its disk."""
        return [self._folder(log, place) for log in self.logs]

    def places(self, place: Place) -> tuple[Path, ...]:
        """A directory on the disk or mount of each log, in their order; the target without any."""
        roots = [
            Path(log) if _is_elsewhere(log) else _root(log.rpartition(_ON_DISK)[0], place)
            for log in self.logs
        ]
        return tuple(dict.fromkeys(roots)) or (place.directory,)

    def remove(self, place: Place) -> None:
        """Remove the logs, and the folders that they are in."""
        for folder in (place.directory / self.name, *self._outside_folders(place)):
            remove(folder)

    def make_folders(self, place: Place) -> None:
        """Make the folders outside of the target anew, for logs that begin empty."""
        self.remove(place)
        for folder in self._outside_folders(place):
            make_folder(folder)

    @property
    def _disk_of_each(self) -> list[str]:
        """Return the disk of each log on the study's disks, "" for the target's."""
        return [log.rpartition(_ON_DISK)[0] for log in self.logs if not _is_elsewhere(log)]

    def _folder(self, log: str, place: Place) -> Path:
        if _is_elsewhere(log):
            return self._own([Path(log)], place)[0]
        disk, _, folder = log.rpartition(_ON_DISK)
        if not disk:
            return place.directory / self.name / folder
        return self._own([_root(disk, place)], place)[0] / folder

    def _outside_folders(self, place: Place) -> list[Path]:
        """Return the folders on other disks and in other directories."""
        roots = (*self.directories, *(_root(disk, place) for disk in sorted(self.disks)))
        return self._own(roots, place)

    def _own(self, directories: Iterable[Path], place: Place) -> list[Path]:
        return own_folders(directories, place, f"iostudy-{self.name}-")


class LoggingWorkload(Workload):
    """Base of the servers of a namespace, whose files are its logs."""

    options: NamespaceOptions
    log_folder: ClassVar[str]

    @property
    def logs(self) -> EditLogs:
        """Return the directories of the logs."""
        return EditLogs.from_options(self.options, self.log_folder)

    def disks(self) -> frozenset[str]:
        """Return the further disks that hold a log."""
        return self.logs.disks

    def directories(self) -> tuple[Path, ...]:
        """Return the directories that hold a log."""
        return self.logs.directories

    def places(self, place: Place) -> tuple[Path, ...]:
        """The disks and mounts of the logs."""
        return self.logs.places(place)


def _root(disk: str, place: Place) -> Path:
    """Return the root of the place with that name, the study's folder for ""."""
    if not disk:
        return place.directory
    return find_disk(disk, place)
