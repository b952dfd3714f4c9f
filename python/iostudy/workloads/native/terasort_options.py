"""Options of teragen, terasort and teravalidate, and the job that they describe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from iostudy import _native, units
from iostudy.workloads.directories import Directories
from iostudy.workloads.option_types import Count, Memory, Options

INPUT, OUTPUT = "tera-in", "tera-out"
"""Folders of the unsorted and the sorted rows."""


class TeraOptions(Options):
    """Options that teragen, terasort and teravalidate share."""

    rows: Count = Field(
        10_000_000, description="rows of 100 bytes (TeraGen's first argument): 10M are 1 GB"
    )
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        2, description="number of concurrent tasks, a thread each"
    )
    direct: bool = Field(default=False, description="O_DIRECT, which bypasses the page cache")


class TeraGenOptions(TeraOptions):
    """Options of teragen."""

    parts: Annotated[int, Field(ge=1, le=10_000)] = Field(
        2, description="number of files, and the most concurrent threads (mapreduce.job.maps)"
    )
    fsync: bool = Field(
        default=True, description="end each file with fsync, inside the measured time"
    )


class TeraSortOptions(TeraOptions):
    """Options of terasort."""

    parts: Annotated[int, Field(ge=1, le=10_000)] = Field(
        2, description="number of files of unsorted rows"
    )
    reducers: Annotated[int, Field(ge=1, le=1000)] = Field(
        2, description="number of files of sorted rows, in key order (mapreduce.job.reduces)"
    )
    memory: Memory = Field(
        256 * units.MIB, description="memory limit for buffers and tables of all threads together"
    )
    spill: Directories = Field(
        (),
        description="folders for intermediate data, used in turn, possibly on several devices "
        "(mapreduce.cluster.local.dir); none: next to the rows",
    )
    fsync: bool = Field(
        default=True,
        description="end each sorted file with fsync, inside the measured time; intermediate data "
        "are never synced",
    )

    @model_validator(mode="after")
    def _fits(self) -> TeraSortOptions:
        build_sort(self, Path(), (Path(),))
        return self


class TeraValidateOptions(TeraOptions):
    """Options of teravalidate."""

    reducers: Annotated[int, Field(ge=1, le=1000)] = Field(
        2, description="number of files of sorted rows, and the most concurrent threads"
    )


def build_sort(options: TeraSortOptions, folder: Path, spill: tuple[Path, ...]) -> _native.TeraSort:
    """Build the sort of the rows in a folder; ValueError if the memory is not enough."""
    return _native.TeraSort(
        str(folder / INPUT),
        str(folder / OUTPUT),
        rows=options.rows,
        memory_bytes=options.memory,
        spill=[str(path) for path in spill],
        reducers=options.reducers,
        threads=options.threads,
        direct=options.direct,
        fsync=options.fsync,
    )
