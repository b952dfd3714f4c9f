"""Hadoop's TeraGen, TeraSort and TeraValidate on HDFS: rows of 100 bytes, keys of 10."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from iostudy.durable import replace_whole
from iostudy.errors import WorkloadError
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.workload import Place
from iostudy_hadoop.native.terasort import ROW_BYTES, RowOptions, row_rates
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import terasort
from iostudy_hadoop.tools.results import NoResultError
from iostudy_hadoop.workloads import counter_figures, job
from iostudy_hadoop.workloads.job import HadoopOptions, HadoopRun, HadoopWorkload

_CHECKSUM = "hadoop-tera-checksum"
_SPILLS = 2
"""Copies of spilled data: map output is merged once and exists until a reduce has it."""


class _TeraOptions(RowOptions, HadoopOptions):
    """Options that all three share."""

    maps: Annotated[int, Field(ge=1, le=10_000)] = Field(
        2,
        description="map tasks of TeraGen, and files of unsorted rows (mapreduce.job.maps). For "
        "Hadoop this is a hint: its local runner always uses one, and a note says so",
    )


class HadoopTeraGenOptions(_TeraOptions):
    """Options of hadoop.teragen."""


class HadoopTeraSortOptions(_TeraOptions):
    """Options of hadoop.terasort and hadoop.teravalidate."""

    reduces: Annotated[int, Field(ge=1, le=10_000)] = Field(
        2, description="reduce tasks, and files of sorted rows (mapreduce.job.reduces)"
    )
    output_replication: Annotated[int, Field(ge=1, le=512)] = Field(
        1,
        description="replicas of the sorted rows, independent of dfs.replication "
        "(mapreduce.terasort.output.replication)",
    )


@dataclass(frozen=True)
class _HadoopTera(HadoopWorkload):
    """Base of all three."""

    options: _TeraOptions

    def clean(self, place: Place) -> None:
        """Remove all rows and reports."""
        (place.directory / _CHECKSUM).unlink(missing_ok=True)
        self._remove(place, "")

    def _remove(self, place: Place, name: str) -> None:
        Shell.for_client(job.require_client(place)).remove(_path(place, name))

    def _run(self, place: Place, main_class: str, *arguments: str, counter: str) -> HadoopRun:
        """Run one of the three; WorkloadError unless it has processed all rows."""
        limit = self.options.limit
        ran = job.run_program(place, main_class, *arguments, limit_seconds=limit)
        rows = counter_figures.count_records(ran, counter)
        if rows != self.options.rows:
            raise _other_rows(f"{self.options.rows} rows", f"{rows} rows ({counter})", place)
        return ran

    def _generate(self, place: Place) -> HadoopRun:
        """Make the rows, and note the checksum that they keep through the sort."""
        arguments = terasort.teragen_arguments(
            self.options.rows, self.options.maps, _path(place, "in")
        )
        ran = self._run(place, terasort.GEN, *arguments, counter="Map output records")
        with _checksum_errors(place):
            made = "".join(map(terasort.generated_checksum, ran.jobs))
            replace_whole(place.directory / _CHECKSUM, made.encode())
        return ran

    def _measured(
        self, ran: HadoopRun, replication: int, notes: tuple[str, ...] = ()
    ) -> Measurement:
        times = ran.times()
        figures = {
            **times,
            **row_rates(self.options.rows, times["job_time"]),
            **counter_figures.read_figures(ran, replication),
        }
        return Measurement(figures, notes=notes)


@dataclass(frozen=True)
class HadoopTeraGen(_HadoopTera):
    """Make rows."""

    def space_bytes(self) -> int:
        """Return the size of all rows."""
        return self.options.rows * ROW_BYTES

    def reset(self, place: Place) -> None:
        """Remove the files, so that every trial creates new ones."""
        self._remove(place, "in")

    def run(self, place: Place) -> Measurement:
        """Make all rows once."""
        ran = self._generate(place)
        replication = job.require_client(place).replication
        return self._measured(ran, replication, _notes(ran, self.options.maps))


@dataclass(frozen=True)
class HadoopTeraSort(_HadoopTera):
    """Sort rows that prepare has made in the same block."""

    options: HadoopTeraSortOptions

    def space_bytes(self) -> int:
        """The rows as they were made and as they are sorted, and what is spilled in between."""
        return (2 + _SPILLS) * self.options.rows * ROW_BYTES

    def reads(self) -> bool:
        """The rows are read from the device."""
        return True

    def preparation(self) -> str:
        """Trials share the rows however they sort them."""
        return f"unsorted {self.options.rows} in {self.options.maps}"

    def prepare(self, place: Place) -> None:
        """Make the rows."""
        self._generate(place)

    def reset(self, place: Place) -> None:
        """Remove the sorted files, so that every trial creates new ones."""
        self._remove(place, "out")

    def run(self, place: Place) -> Measurement:
        """Sort all rows once."""
        return self._measured(self._sort(place), self.options.output_replication)

    def _sort(self, place: Place) -> HadoopRun:
        options = self.options
        folders = (_path(place, "in"), _path(place, "out"))
        arguments = terasort.terasort_arguments(
            options.reduces, options.output_replication, *folders
        )
        return self._run(place, terasort.SORT, *arguments, counter="Reduce output records")


@dataclass(frozen=True)
class HadoopTeraValidate(HadoopTeraSort):
    """Check sorted rows that prepare has made in the same block."""

    def preparation(self) -> str:
        """Trials share the sorted rows."""
        options = self.options
        sorted_ = f"sorted in {options.reduces}, {options.output_replication} replicas"
        return f"{super().preparation()}, {sorted_}"

    def prepare(self, place: Place) -> None:
        """Make the rows and sort them; remove the unsorted rows."""
        self._generate(place)
        self._sort(place)
        self._remove(place, "in")

    def reset(self, place: Place) -> None:
        """Remove the report, so that every trial writes a new one."""
        self._remove(place, "report")

    def run(self, place: Place) -> Measurement:
        """Read all rows once; WorkloadError unless they are those that were made, in order."""
        folders = (_path(place, "out"), _path(place, "report"))
        ran = self._run(place, terasort.VALIDATE, *folders, counter="Map input records")
        checksum = self._require_valid(place)
        note = f"checksum of the rows, as TeraChecksum gives it: {checksum}"
        return self._measured(ran, job.require_client(place).replication, (note,))

    def _require_valid(self, place: Place) -> str:
        where = _path(place, f"report/{terasort.REPORT}")
        shell = "org.apache.hadoop.fs.FsShell"
        ran = job.run_program(place, shell, "-cat", where, limit_seconds=self.options.limit)
        with _checksum_errors(place):
            checksum = terasort.reported_checksum(ran.ended.stdout.text)
            made = (place.directory / _CHECKSUM).read_text()
        if checksum != made:
            raise _other_rows(f"rows with the checksum {made}", checksum, place)
        return checksum


@contextmanager
def _checksum_errors(place: Place) -> Iterator[None]:
    with translate_core_errors("to note the checksum of the rows", place.directory):
        try:
            yield
        except NoResultError as error:
            wanted = "rows in their order, and one checksum"
            raise _other_rows(wanted, str(error), place) from error


def _other_rows(wanted: str, found: str, place: Place) -> WorkloadError:
    return WorkloadError(
        f"to find the rows that were made: {wanted}",
        found=found,
        where=_path(place, ""),
        remedy="check the devices of the DataNodes and their logs: data were changed or lost, or "
        "another program works in that folder",
    )


def _path(place: Place, name: str) -> str:
    return f"{job.require_client(place).folder}/tera" + (f"/{name}" if name else "")


def _notes(ran: HadoopRun, maps: int) -> tuple[str, ...]:
    count = sum(entry.maps or 0 for entry in ran.jobs)
    if count == maps:
        return ()
    return (
        f"{count} map tasks made the rows instead of the requested {maps}: to Hadoop it is a hint",
    )


_SOURCE = "Apache Hadoop, org.apache.hadoop.examples.terasort"
_LEAVES_OUT = (
    "a sync to disk, for which Hadoop does not ask. With the local runner, as many tasks run at a "
    "time as mapreduce.local.map.tasks.maximum and mapreduce.local.reduce.tasks.maximum say"
)
_FIGURES = fixed_figures(
    job.JOB_TIME,
    Figure("rate", "MiB/s", "bytes of the rows, counted once, over job_time", True),
    Figure("rows_per_second", "rows/s", "rows over job_time", True),
    job.PROGRAM_TIME,
    *counter_figures.FIGURES,
)


def _definition(
    name: str, models: str, options: type[_TeraOptions], make: Callable[[Any], _HadoopTera]
) -> WorkloadDefinition:
    return WorkloadDefinition(
        name=f"hadoop.{name.lower()}",
        models=models,
        not_modelled=_LEAVES_OUT,
        source=f"{_SOURCE}.{name}",
        options=options,
        figures=_FIGURES,
        example={"rows": "100k"},
        make=make,
        service="hadoop",
    )


GEN = _definition(
    "TeraGen",
    "TeraGen on HDFS: map tasks make rows with random keys, and write a file each",
    HadoopTeraGenOptions,
    HadoopTeraGen,
)
SORT = _definition(
    "TeraSort",
    "TeraSort on HDFS: rows are sorted by map tasks, copied, and merged by reduce tasks. Sampling "
    "the keys is done before the job, and is in program_time alone. That as many rows come out as "
    "went in is checked; that they are in order is for hadoop.teravalidate to say",
    HadoopTeraSortOptions,
    HadoopTeraSort,
)
VALIDATE = _definition(
    "TeraValidate",
    "TeraValidate on HDFS: sorted rows are read, and their order and checksum verified. The sum "
    "has to be that of the rows as they were made, and so has their number",
    HadoopTeraSortOptions,
    HadoopTeraValidate,
)

DEFINITIONS = (GEN, SORT, VALIDATE)
