"""Batch jobs of high-energy physics: each reads an event, computes, and reads the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from iostudy import _native, units
from iostudy.errors import WorkloadError
from iostudy.job import JobSpec
from iostudy.workloads import open_file_limit
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.native.job_files import DIRECT_ALIGNMENT, require_present
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.native.steady import (
    BUFFERED_READS,
    NativeMeter,
    NativeSteadyRun,
    window_names,
    window_percentiles,
)
from iostudy.workloads.option_types import Count, Options, Pause, Seconds, Size
from iostudy.workloads.windows import SteadyRun
from iostudy.workloads.workload import Place, Workload

_MB = 10**6
_DOING = "to read the events of the jobs"
_TIME_UP = "the time was up before all events were read; those not ended by then do not count"
_NOT_JUDGED = (
    "foreign I/O is not judged: the kernel does not say what it read ahead (/proc/thread-self/io)"
)


class EventsOptions(Options):
    """Options of events."""

    jobs: Annotated[int, Field(ge=1, le=4096)] = Field(
        20, description="number of jobs, each a thread (R5: 20, 40, 60 and 80)"
    )
    files: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None, description="number of files that the jobs share evenly; without it one for each job"
    )
    events: Count = Field(40, description="number of events there are for each job")
    duration: Annotated[Seconds, Field(gt=0)] = Field(
        30.0, description="when all jobs end, if their events have not run out before (R5: 40min)"
    )
    event_size: Size = Field(
        1760 * units.KIB, description="bytes that a job reads of an event (R5: 1.7 to 1.9 MB)"
    )
    reads: Annotated[int, Field(ge=1, le=65536)] = Field(
        16, description="number of reads of an event: the baskets of the columns that a job wants"
    )
    gap_percent: Annotated[int, Field(ge=0, le=99)] = Field(
        20, description="share of a file in percent that lies between the reads and is left out"
    )
    compute: Pause = Field(0.3, description="time of computing after each event (R5: about 0.3s)")
    compute_by: Literal["sleep", "burn"] = Field(
        "sleep",
        description="sleep leaves the processors alone, as if each job had one of its own; burn "
        "uses that much processor time, which lasts longer where jobs share processors",
    )
    direct: bool = Field(
        default=False, description="O_DIRECT, past the page cache, instead of buffered"
    )

    @model_validator(mode="after")
    def _fits(self) -> EventsOptions:
        if self.reads > self.event_size:
            raise ValueError("more reads than the event has bytes; give fewer")
        if self.files is not None and self.files > self.jobs:
            raise ValueError("more files than jobs: no job would read some of them; give fewer")
        if self.direct and self.event_size % DIRECT_ALIGNMENT:
            raise ValueError(
                f"direct I/O needs an event_size that is a multiple of {DIRECT_ALIGNMENT}"
            )
        if self.direct and self.reads > self.event_size // DIRECT_ALIGNMENT:
            raise ValueError(
                f"direct I/O reads at least {DIRECT_ALIGNMENT} bytes; give fewer reads"
            )
        return self

    @property
    def gap_bytes(self) -> int:
        """Return the gap per event, rounded to the alignment of direct I/O."""
        share = self.gap_percent / (100 - self.gap_percent)
        return round(self.event_size * share / DIRECT_ALIGNMENT) * DIRECT_ALIGNMENT

    @property
    def data_files(self) -> int:
        """Return the number of files."""
        return self.files or self.jobs

    @property
    def file_bytes(self) -> int:
        """Return the size of each file: room for the events of all jobs that share it."""
        sharers = math.ceil(self.jobs / self.data_files)
        return sharers * self.events * (self.event_size + self.gap_bytes)


@dataclass(frozen=True)
class Events(Workload):
    """Jobs that read the files that prepare has written in the same block."""

    options: EventsOptions

    def space_bytes(self) -> int:
        """Return the size of all files."""
        return self.options.data_files * self.options.file_bytes

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """Return the time of reading and computing of parallel jobs, at most the duration."""
        reading = self.options.jobs * self.options.events * self.options.event_size
        computing = self.options.events * self.options.compute
        return min(self.options.duration, reading / bytes_per_second + computing)

    def reads(self) -> bool:
        """The jobs find nothing in the page cache."""
        return True

    def check(self) -> None:
        """Check the open-file limit: each job has its file open."""
        open_file_limit.refuse_impossible(self.options.jobs, "jobs")

    def preparation(self) -> str:
        """Trials share files of the same number and size, however they read them."""
        return f"{self.options.data_files} x {self.options.file_bytes}"

    def prepare(self, place: Place) -> None:
        """Write the data files, one after the other, as a site stores them."""
        spec = JobSpec(
            threads=(tuple(map(str, self._paths(place))),),
            operation="write",
            create=True,
            file_bytes=self.options.file_bytes,
            record_bytes=min(units.MIB, self.options.file_bytes),
            sync="fsync",
            seed=place.seed,
        )
        with translate_core_errors("to write the data files of the jobs", place.directory):
            place.run(_native.FileJob(spec))

    def run(self, place: Place) -> Measurement:
        """Let all jobs read and compute until time or events run out."""
        options, jobs = self.options, self._jobs(place)
        with translate_core_errors(_DOING, place.directory):
            result = place.run(jobs)
        self._require_files(place)
        if not result.events:
            raise _no_event(options, place)
        figures = _figures(result, options)
        return Measurement(
            figures,
            {"event": compact_histogram(result.read_latencies)},
            notes=_notes(result, options),
        )

    def clean(self, place: Place) -> None:
        """Remove the files."""
        for path in self._paths(place):
            remove(path)

    def unsteady_reason(self) -> str:
        """After the first pass the page cache would answer."""
        return "" if self.options.direct else BUFFERED_READS

    def steady_run(self, place: Place) -> SteadyRun:
        """Let each job process its events again and again."""
        meter = NativeMeter(_window_readings)
        verify = partial(self._require_files, place)
        return NativeSteadyRun(meter, self._jobs(place).repeat, place, _DOING, verify)

    def _jobs(self, place: Place) -> _native.EventJobs:
        options = self.options
        open_file_limit.require(options.jobs, "jobs", place.directory)
        return _native.EventJobs(
            [str(path) for path in self._paths(place)],
            jobs=options.jobs,
            events_per_job=options.events,
            event_bytes=options.event_size,
            gap_bytes=options.gap_bytes,
            reads=options.reads,
            compute=options.compute_by,
            compute_seconds=options.compute,
            seconds=options.duration,
            direct=options.direct,
            seed=place.seed,
        )

    def _require_files(self, place: Place) -> None:
        require_present(self._paths(place), place, self.options.file_bytes)

    def _paths(self, place: Place) -> list[Path]:
        files = range(self.options.data_files)
        return [place.directory / f"events-{index:04d}" for index in files]


def _figures(result: _native.EventResult, options: EventsOptions) -> dict[str, float]:
    read_bytes = result.events * options.event_size
    figures = {
        "event_rate": result.events / result.wall_seconds,
        "events": float(result.events),
        "read_rate": read_bytes / _MB / result.wall_seconds,
        "cpu_efficiency": 100 * result.events * options.compute / math.fsum(result.job_seconds),
        "exec_time": result.wall_seconds,
        **latency_readings(result.read_latencies),
    }
    if result.fetched_bytes is not None:
        figures[BYTES] = float(max(result.read_bytes, result.fetched_bytes))
    return figures


def _window_readings(stats: Sequence[_native.IoStats], seconds: float) -> dict[str, float]:
    (events,) = stats
    return {
        "event_rate": events.latencies.count / seconds,
        "read_rate": events.bytes / _MB / seconds,
        **window_percentiles(events.latencies),
    }


def _notes(result: _native.EventResult, options: EventsOptions) -> tuple[str, ...]:
    is_short = result.events < options.jobs * options.events
    time_up = (_TIME_UP,) if is_short else ()
    return (*time_up, _NOT_JUDGED) if result.fetched_bytes is None else time_up


def _no_event(options: EventsOptions, place: Place) -> WorkloadError:
    time = units.format_exact_seconds(options.duration)
    return WorkloadError(
        "to read and compute events",
        found=f"not one was ended in {time}",
        where=str(place.directory),
        remedy="give a longer duration, or less computing for an event",
    )


_ALL_FIGURES = fixed_figures(
    Figure("event_rate", "events/s", "events over the time of all jobs", True),
    Figure("events", "events", "events that were read and computed in time", True),
    Figure("read_rate", "MB/s", "bytes of these events (10^6 B) over the time", True),
    Figure("cpu_efficiency", "%", "computing time of these events over the jobs' time", True),
    Figure("exec_time", "s", "from first start to last end, or to when the time was up", False),
    *latency_figures("reading an event: all its reads, with verifying them"),
    Figure(BYTES, "B", "bytes that jobs read, or the kernel for them if that is more", True),
)

EVENTS = WorkloadDefinition(
    name="events",
    models="batch jobs of high-energy physics: each reads an event, computes, reads the next. The "
    "CMS reconstruction of report R5 works this way. A job opens a data file and reads each event "
    "in several reads with gaps, as in a column-wise ROOT file, until time or events run out",
    not_modelled="processes (the jobs are threads of one), their start, output and calibration "
    "data; decompression; TTreeCache, which gathers the reads of many events (fewer reads of a "
    "larger event model it); network and file system servers. With more burning jobs than "
    "processors the workload measures the processors",
    source="report R5, Hadoop on the HEPiX storage test bed at FZK; ROOT's reference of TTreeCache "
    "(baskets, reads with gaps)",
    options=EventsOptions,
    figures=_ALL_FIGURES,
    example={"jobs": 4, "events": 5, "compute": "100ms"},
    make=Events,
    concurrency_options=("jobs",),
    steady_when="with direct: true; each job processes its events again and again",
    can_be_simulated=True,
    window_figures=lambda options: window_names(_ALL_FIGURES(options), "rate"),
)
