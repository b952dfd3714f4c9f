"""TeraGen, TeraSort and TeraValidate on plain directories: rows of 100 bytes, keys of 10.

The rows are those of Hadoop, byte by byte, so that either can sort and validate what the other has
made. What row N holds is a function of N: the block's seed has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from iostudy import _native, units
from iostudy.durable import replace_whole
from iostudy.errors import WorkloadError
from iostudy.workloads import open_file_limit
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.directories import refuse_unfit
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Histogram, Measurement
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.option_types import Count, Options
from iostudy.workloads.workload import Place, Workload
from iostudy_hadoop.native.option_types import Directories, Memory

INPUT, OUTPUT = "tera-in", "tera-out"
"""Folders of the unsorted and the sorted rows."""


class RowOptions(Options):
    """Number of rows, natively and on a cluster."""

    rows: Count = Field(
        10_000_000, description="rows of 100 bytes (TeraGen's first argument): 10M are 1 GB"
    )


class TeraOptions(RowOptions):
    """Options that teragen, terasort and teravalidate share."""

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


ROW_BYTES = 100
_SIZE_PER_MEMORY = 256
"""Rows that are only prepared are sorted in runs of at least a 256th."""

_RUNS, _FEWER_RUNS = "files of sorted runs", "more memory, which makes fewer runs"

_CHECKSUM = "tera-checksum"


class _Tera(Workload):
    """Base of all three."""

    def unsteady_reason(self) -> str:
        """It ends with its work."""
        return "it is one pass over its rows, in phases with different I/O"

    def clean(self, place: Place) -> None:
        """Remove the rows."""
        for name in (INPUT, OUTPUT, _CHECKSUM):
            remove(place.directory / name)


@dataclass(frozen=True)
class TeraGen(_Tera):
    """Make rows."""

    options: TeraGenOptions

    def space_bytes(self) -> int:
        """Return the size of all rows."""
        return self.options.rows * ROW_BYTES

    def reset(self, place: Place) -> None:
        """Remove the files, so that every trial allocates new ones."""
        self.clean(place)

    def run(self, place: Place) -> Measurement:
        """Make all rows once."""
        options = self.options
        result = _generate(
            place, options, parts=options.parts, direct=options.direct, fsync=options.fsync
        )
        figures = _rates(result) | {BYTES: float(result.write.bytes)}
        return _measured(result, figures, {"write": result.write})


@dataclass(frozen=True)
class TeraSort(_Tera):
    """Sort rows that prepare has made in the same block."""

    options: TeraSortOptions

    def space_bytes(self) -> int:
        """The rows as they were made and as they are sorted, and in between unless elsewhere."""
        copies = 2 if self.options.spill else 3
        return copies * self.options.rows * ROW_BYTES

    def written_bytes(self) -> int:
        """The sorted rows, and those in between unless elsewhere."""
        return self.space_bytes() - self.prepared_bytes()

    def prepared_bytes(self) -> int:
        """The rows."""
        return self.options.rows * ROW_BYTES

    def reads(self) -> bool:
        """The rows are read from the device."""
        return True

    def check(self) -> None:
        """Refuse spill folders that cannot be written to, and more runs than may be open."""
        needed = build_sort(self.options, Path(), (Path(),)).descriptors
        open_file_limit.refuse_impossible(needed, _RUNS, instead=_FEWER_RUNS)
        refuse_unfit(self.options.spill, "for intermediate data")

    def preparation(self) -> str:
        """Trials share the rows however they sort them."""
        return f"unsorted {self.options.rows} in {self.options.parts}"

    def prepare(self, place: Place) -> None:
        """Make the rows, and note the checksum that they keep through the sort."""
        self.clean(place)  # a preparation that was killed may have left its rows
        made = _generate(place, self.options, parts=self.options.parts)
        with _core_errors("to note the checksum of the rows", place):
            replace_whole(place.directory / _CHECKSUM, _checksum(made).encode())

    def reset(self, place: Place) -> None:
        """Remove the sorted files, so that every trial creates new ones."""
        remove(place.directory / OUTPUT)

    def run(self, place: Place) -> Measurement:
        """Sort all rows once, and compare the checksum of what was written."""
        spill, sorted_ = self._spill(place), self.sort(place)
        result = sorted_.result
        figures = _rates(result) | {
            BYTES: float(_bytes_on_target(sorted_, place.directory, spill)),
            "spill_time": sorted_.spill_seconds,
            "merge_time": sorted_.merge_seconds,
            "spilled": sum(sorted_.spilled_bytes) / units.MIB,
            "memory": sorted_.memory_bytes / units.MIB,
        }
        return _measured(result, figures, {"read": result.read, "write": result.write})

    def sort(self, place: Place) -> _native.TeraSortResult:
        """Sort all rows once, and compare the checksum of what was written."""
        job = build_sort(self.options, place.directory, self._spill(place))
        open_file_limit.require(job.descriptors, _RUNS, place.directory, instead=_FEWER_RUNS)
        with _core_errors("to sort the rows", place):
            sorted_ = place.run(job)
        _compare(sorted_.result, place)
        return sorted_

    def _spill(self, place: Place) -> tuple[Path, ...]:
        return self.options.spill or (place.directory,)


@dataclass(frozen=True)
class TeraValidate(_Tera):
    """Check sorted rows that prepare has made in the same block."""

    options: TeraValidateOptions

    def space_bytes(self) -> int:
        """While they are made, the rows three times."""
        return 3 * self.options.rows * ROW_BYTES

    def reads(self) -> bool:
        """The rows are read from the device."""
        return True

    def preparation(self) -> str:
        """Trials share the sorted rows."""
        return f"sorted {self.options.rows} in {self.options.reducers}"

    def prepare(self, place: Place) -> None:
        """Make the rows and sort them; remove the unsorted rows."""
        rows, reducers = self.options.rows, self.options.reducers
        memory = max(256 * units.MIB, rows * ROW_BYTES // _SIZE_PER_MEMORY)
        options = {"rows": rows, "reducers": reducers, "memory": memory}
        sorting = TeraSort(TeraSortOptions.model_validate(options))
        sorting.prepare(place)
        with open_file_limit.raise_soft_limit():
            sorting.sort(place)
        remove(place.directory / INPUT)

    def run(self, place: Place) -> Measurement:
        """Read all rows once, and compare their order, number and checksum."""
        options = self.options
        job = _native.TeraValidate(
            str(place.directory / OUTPUT), threads=options.threads, direct=options.direct
        )
        with _core_errors("to validate the sorted rows", place):
            result = place.run(job)
        _compare(result, place)
        if result.rows != options.rows:
            raise _other_rows(f"{options.rows} rows", f"{result.rows} rows", place)
        figures = _rates(result) | {BYTES: float(result.read.bytes)}
        return _measured(result, figures, {"read": result.read})


def _generate(
    place: Place, options: TeraOptions, *, parts: int, direct: bool = False, fsync: bool = True
) -> _native.TeraResult:
    job = _native.TeraGen(
        str(place.directory / INPUT),
        rows=options.rows,
        parts=parts,
        threads=options.threads,
        direct=direct,
        fsync=fsync,
    )
    with _core_errors("to make the rows", place):
        return place.run(job)


def _core_errors(doing: str, place: Place) -> AbstractContextManager[None]:
    return translate_core_errors(doing, place.directory)


def _compare(result: _native.TeraResult, place: Place) -> None:
    """Refuse rows that are not those that were made."""
    with _core_errors("to find the checksum of the rows", place):
        made = (place.directory / _CHECKSUM).read_text()
    if _checksum(result) != made:
        raise _other_rows(f"rows with the checksum {made}", _checksum(result), place)


def _checksum(result: _native.TeraResult) -> str:
    """Return the checksum; the rows of a simulation have none."""
    return result.checksum or ""


def _other_rows(wanted: str, found: str, place: Place) -> WorkloadError:
    return WorkloadError(
        f"to find the rows that were made: {wanted}",
        found=found,
        where=str(place.directory / OUTPUT),
        remedy="check the device and its log (dmesg): data were changed or lost",
    )


def _bytes_on_target(sorted_: _native.TeraSortResult, target: Path, spill: tuple[Path, ...]) -> int:
    """Rows read and written, and what was spilled to the target's own file system."""
    device = target.stat().st_dev
    by_folder = zip(spill, sorted_.spilled_bytes, strict=True)
    elsewhere = sum(held for folder, held in by_folder if folder.stat().st_dev != device)
    moved = sorted_.result.read.bytes + sorted_.result.write.bytes
    return moved - 2 * elsewhere  # each spill is written and read once


def _rates(result: _native.TeraResult) -> dict[str, float]:
    seconds = result.wall_seconds
    return {**row_rates(result.rows, seconds), "exec_time": seconds}


def row_rates(rows: int, seconds: float) -> dict[str, float]:
    """Return the rates of rows that were processed in that time."""
    per_second = rows / seconds
    return {"rate": per_second * ROW_BYTES / units.MIB, "rows_per_second": per_second}


def _measured(
    result: _native.TeraResult,
    figures: Mapping[str, float],
    tallies: Mapping[str, _native.IoStats],
) -> Measurement:
    latencies: dict[str, Histogram] = {}
    readings: dict[str, float] = {}
    for operation, tally in tallies.items():
        latencies[operation] = compact_histogram(tally.latencies)
        readings |= latency_readings(tally.latencies, f"{operation}_latency")
    checksum = f"checksum of the rows, as TeraChecksum gives it: {result.checksum}"
    notes = (checksum,) if result.checksum else ()
    return Measurement({**figures, **readings}, latencies, notes=notes)


def _figures(*more: Figure, operations: tuple[str, ...]) -> Callable[[object], tuple[Figure, ...]]:
    latencies = (latency_figures(f"a {o} call", f"{o}_latency") for o in operations)
    return fixed_figures(
        Figure("rate", "MiB/s", "bytes of the rows, counted once, over the time", True),
        Figure("rows_per_second", "rows/s", "rows over the time", True),
        Figure(
            "exec_time",
            "s",
            "from the first access to a file until the last file is in place",
            False,
        ),
        Figure(BYTES, "B", "bytes read and written on the target", True),
        *more,
        *(figure for figures in latencies for figure in figures),
    )


_SOURCE = "Apache Hadoop, org.apache.hadoop.examples.terasort"
_LEAVES_OUT = "HDFS with its replication and network, YARN, the JVM and the start of tasks"

GEN = WorkloadDefinition(
    name="teragen",
    models="TeraGen: generates rows with random keys, the same bytes as Hadoop's. Each map task "
    "writes one file; files get their names when all are complete",
    not_modelled=_LEAVES_OUT,
    source=f"{_SOURCE}.TeraGen",
    options=TeraGenOptions,
    figures=_figures(operations=("write",)),
    example={"rows": "1M"},
    make=TeraGen,
    concurrency_options=("threads",),
    ticks_bytes=True,
    can_be_simulated=True,
)
SORT = WorkloadDefinition(
    name="terasort",
    models="TeraSort: sorts rows within a memory limit. It reads and sorts them in pieces, spills "
    "once, merges into ordered files, and renames them when all are complete. The measured "
    "time includes sampling of keys, and a checksum of the written data that must equal "
    "the checksum of the generated rows. teravalidate checks the files themselves",
    not_modelled=f"{_LEAVES_OUT}, copying between hosts, and more than one merge of the same data",
    source=f"{_SOURCE}.TeraSort",
    options=TeraSortOptions,
    figures=_figures(
        Figure("spill_time", "s", "sampling, reading, sorting and spilling", False),
        Figure("merge_time", "s", "merging the spilled data into the sorted files", False),
        Figure("spilled", "MiB", "intermediate data, written and read once", False),
        Figure("memory", "MiB", "peak memory of buffers and tables", False),
        operations=("read", "write"),
    ),
    example={"rows": "1M", "memory": "64MiB"},
    make=TeraSort,
    concurrency_options=("threads",),
    ticks_bytes=True,
    can_be_simulated=True,
)
VALIDATE = WorkloadDefinition(
    name="teravalidate",
    models="TeraValidate: reads sorted rows and verifies their order and checksum. It also "
    "verifies their number and the order between files; the checksum is the sum of their CRC-32",
    not_modelled=_LEAVES_OUT,
    source=f"{_SOURCE}.TeraValidate",
    options=TeraValidateOptions,
    figures=_figures(operations=("read",)),
    example={"rows": "1M"},
    make=TeraValidate,
    concurrency_options=("threads",),
    ticks_bytes=True,
    can_be_simulated=True,
)
