"""What a name-node's benchmarks have in common: phases, how many of what, and where logs lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from iostudy.workloads.definition import Count, Listed, Options, Place
from iostudy.workloads.directories import own_folders, refuse_unfit
from iostudy.workloads.folder import remove

Operation = Literal["create", "open", "rename", "delete", "mkdirs", "file-status"]
MEANINGS: Mapping[Operation, str] = {
    "create": "empty files made and left open",
    "open": "files whose blocks were asked for; needs no log",
    "rename": "files given another name in their directory",
    "delete": "files deleted",
    "mkdirs": "directories made",
    "file-status": "files whose attributes were asked for; needs no log",
}
LOOKING: frozenset[Operation] = frozenset(("open", "file-status"))
"""They change nothing, and so write nothing into a log."""
NO_LOG = "none"


def _is_elsewhere(log: str) -> bool:
    return Path(log).is_absolute()


def _log(name: str) -> str:
    """A folder in the target by its name, or a whole path; ValueError for anything else."""
    is_name = Path(name).name == name and name not in ("", ".", "..")
    if not is_name and not _is_elsewhere(name):
        raise ValueError(
            f"{name!r} is neither the name of a folder in the target nor a whole path such as "
            "/disk2/journal"
        )
    return name


def _each_once(logs: tuple[str, ...]) -> tuple[str, ...]:
    # Also by way of a link or .. it is the same: two logs would be in one folder.
    if len(set(map(os.path.realpath, logs))) < len(logs):
        raise ValueError("a log stands twice; name each once")
    if NO_LOG in logs and len(logs) > 1:
        raise ValueError(f"{NO_LOG} stands beside other logs; say it alone")
    return logs


class NamespaceOptions(Options):
    """What is asked of a namespace, whoever serves it."""

    operations: Listed[Operation] = Field(
        ("create", "open", "rename", "delete"),
        description="the phases in their order, each of them once and after the one before has "
        f"ended (NNThroughputBenchmark: -op): {', '.join(get_args(Operation))}. Files that one "
        "needs and that are not there are made before, unmeasured",
    )
    files: Count = Field(
        100_000,
        description="files, or directories: every phase does its operation once to each "
        "(NNThroughputBenchmark: -files)",
    )
    threads: Annotated[int, Field(ge=1, le=65536)] = Field(
        256,
        description="operations under way at a time (NNThroughputBenchmark: -threads), as a "
        "name-node has handlers",
    )
    files_per_directory: Count = Field(
        100, description="files in one directory (NNThroughputBenchmark: -filesPerDir)"
    )
    logs: Annotated[
        Listed[Annotated[str, AfterValidator(_log)]],
        AfterValidator(_each_once),
        Field(min_length=1),
    ] = Field(
        ("log",),
        description="where the edit log lies: names of folders in the target, or whole paths of "
        "directories on other disks and mounts, in which a folder of iostudy's own is made. Each "
        f"of several holds a copy (dfs.namenode.edits.dir); {NO_LOG}: no log, so that nothing is "
        "durable, which a real name-node cannot do",
    )


@dataclass(frozen=True)
class EditLogs:
    """The folders of the logs that options name.

    Those in the target lie below ``name`` there, those elsewhere in folders whose name begins with
    ``iostudy-`` and ``name``.
    """

    logs: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, options: NamespaceOptions, name: str) -> EditLogs:
        """Those of the options; none for NO_LOG."""
        return cls(() if options.logs == (NO_LOG,) else options.logs, name)

    @property
    def elsewhere(self) -> list[Path]:
        """The directories that are not in the target."""
        return [Path(log) for log in self.logs if _is_elsewhere(log)]

    @property
    def in_target(self) -> int:
        """How many are in the target."""
        return len(self.logs) - len(self.elsewhere)

    @property
    def key(self) -> str:
        """As a preparation: trials with other logs do not share it, so that each cleans its own."""
        return " ".join(self.logs)

    def check(self) -> None:
        """Refuse directories that cannot be written to; TargetError says which."""
        refuse_unfit(self.elsewhere, "for an edit log")

    def folders(self, place: Place) -> list[Path]:
        """One for each log, in their order."""
        elsewhere = iter(self._beside(place))
        own = self._own(place)
        return [next(elsewhere) if _is_elsewhere(log) else own / log for log in self.logs]

    def remove(self, place: Place) -> None:
        """Remove the logs, and the folders that they are in."""
        for folder in (self._own(place), *self._beside(place)):
            remove(folder)

    def _own(self, place: Place) -> Path:
        return place.directory / self.name

    def _beside(self, place: Place) -> list[Path]:
        return own_folders(self.elsewhere, place.directory, f"iostudy-{self.name}-")
