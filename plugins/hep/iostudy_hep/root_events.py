"""Jobs that read the events of a real ROOT file through uproot and compute."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from iostudy import units
from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.extras import require_extra
from iostudy.workloads.concurrent_runs import ConcurrentRun, run_concurrently
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.native.latency import (
    PERCENTILES,
    latency_figures,
    merge_buckets,
    percentile_us,
    pool_histograms,
)
from iostudy.workloads.option_types import Count, Options, Pause, Seconds, Size
from iostudy.workloads.page_cache import drop_file
from iostudy.workloads.tick import Tick
from iostudy.workloads.workload import Place, Workload, describe_version
from iostudy_hep import file
from iostudy_hep.access import Access

_MB = 10**6
_ASK_SECONDS = 0.05
_ALL = "*"
_HEAD_BYTES = units.MIB
"""More than the head of a file that is made here takes, with the list of its baskets."""


class RootEventsOptions(Options):
    """Options of root-events."""

    jobs: Annotated[int, Field(ge=1, le=1024)] = Field(4, description="number of jobs")
    file: Path | None = Field(
        None, description="a ROOT file of the user, opened read-only; by default one is generated"
    )
    tree: str | None = Field(
        None, description="name of the TTree; by default the only one of the file"
    )
    access: Access = Field(
        Access.FILE,
        description="hdfs reads a file on a mount of HDFS by the client hdfs-native in its place",
    )
    branches: str = Field(_ALL, description="pattern of the branches to read: Muon_*")
    step: Count = Field(5, description="events per read, and per basket of a generated file")
    events: Count = Field(80, description="number of events in a generated file")
    event_size: Size = Field(
        1760 * units.KIB, description="bytes per event in a generated file (R5: 1.7 to 1.9 MB)"
    )
    columns: Annotated[int, Field(ge=1, le=9999)] = Field(
        16, description="number of branches in a generated file"
    )
    compute: Pause = Field(
        0.3, description="sleep after each event, in place of computing (R5: about 0.3s)"
    )
    duration: Annotated[Seconds, Field(gt=0)] = Field(
        30.0,
        description="time limit of all jobs; they end earlier if the events run out (R5: 40min)",
    )

    @model_validator(mode="after")
    def _fits(self) -> RootEventsOptions:
        if self.file is None and self.tree is not None:
            raise ValueError("tree names one of a file of your own; give file as well")
        return self


@dataclass(frozen=True)
class RootEvents(Workload):
    """Jobs as threads of this process, each with its own share of the events."""

    options: RootEventsOptions

    def space_bytes(self) -> int:
        """The file, if it is made here."""
        made = self.options.events * self.options.event_size + _HEAD_BYTES
        return made if self.options.file is None else 0

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        """The duration at most; how much is in a file of the user's own is not looked up."""
        return self.options.duration

    def reads(self) -> bool:
        """The jobs find nothing in the page cache."""
        return True

    def contents(self) -> Iterable[tuple[str, str]]:
        """Return the version of the user's own file."""
        path = self.options.file
        return [(str(path), describe_version(path))] if path is not None else ()

    def check(self) -> None:
        """UsageError if the file is not a ROOT file, or a client of HDFS is missing."""
        if self.options.access is Access.HDFS:
            require_extra("hdfs", "read HDFS by its interface", "or leave out access: hdfs")
        if self.options.file is not None:
            file.require_tree(self.options.file, self.options.tree)

    def preparation(self) -> str:
        """Return the parameters that define a file."""
        made = self.options.model_dump_json(include={"file", "events", "event_size", "columns"})
        return f"{made} {self.options.step}"

    def prepare(self, place: Place) -> None:
        """Make the file, unless there is one."""
        if self.options.file is not None:
            return

        def go_on() -> None:
            if not place.tick(0):
                raise _stopped(place)

        options = self.options
        with translate_core_errors("to make a ROOT file", place.directory):
            file.make(self._path(place), self._content(place), options.events, options.step, go_on)

    def reset(self, place: Place) -> None:
        """A file of the user's own lies elsewhere: it is taken out of the page cache here."""
        if self.options.file is not None:
            drop_file(self.options.file)

    def run(self, place: Place) -> Measurement:
        """Let all jobs read and compute until time or events run out."""
        bases = {} if self.options.file else self._content(place).bases()
        players = [
            ConcurrentRun(partial(self._job, place, events, bases), lambda: None)
            for events in self._shares(place)
        ]
        started = time.monotonic()
        if not run_concurrently(players[0], players[1:], place.tick, repeat_others=False):
            raise _stopped(place)
        wall_seconds = min(time.monotonic() - started, self.options.duration)
        return self._measured([player.rounds[0].measured for player in players], wall_seconds)

    def unsteady_reason(self) -> str:
        """It ends with its work."""
        return "its processes read their files once and end"

    def clean(self, place: Place) -> None:
        """Remove the file that was made here."""
        if self.options.file is None:
            remove(self._path(place))

    def _open(self, place: Place) -> AbstractContextManager[Any]:
        return file.open_tree(self._path(place), self.options.tree, self.options.access)

    def _path(self, place: Place) -> Path:
        return self.options.file or place.directory / "events.root"

    def _content(self, place: Place) -> file.Content:
        return file.Content.with_event_size(
            place.seed, self.options.columns, self.options.event_size
        )

    def _shares(self, place: Place) -> list[range]:
        """Return the events of each job, in whole baskets of a generated file."""
        with self._open(place) as tree:
            entries = int(tree.num_entries)
        steps, jobs = math.ceil(entries / self.options.step), self.options.jobs
        cuts = [min(entries, steps * job // jobs * self.options.step) for job in range(jobs + 1)]
        return [range(start, stop) for start, stop in pairwise(cuts)]

    def _job(
        self, place: Place, events: range, bases: Mapping[str, file.Values], tick: Tick
    ) -> Measurement:
        """Run one job; return its completed events and the time of each read."""
        path = self._path(place)
        started, ended, read_bytes, reading = time.monotonic(), 0, 0, list[float]()
        deadline = started + self.options.duration
        with self._open(place) as tree:
            for start in events[:: self.options.step]:
                step = events[start - events.start :][: self.options.step]
                seconds = file.read(tree, path, self.options.branches, step, bases)
                if not self._compute(len(step), deadline, partial(self._ask, place, tick, ended)):
                    break
                ended += len(step)
                read_bytes = file.requested_bytes(tree)
                reading.append(seconds)
            requested_bytes = file.requested_bytes(tree)
        worked = min(time.monotonic(), deadline) - started
        return Measurement(
            {
                "events": ended,
                "read": read_bytes,
                "requested": requested_bytes,
                "seconds": worked,
            },
            {"step": merge_buckets((seconds * 1e6, 1) for seconds in reading)},
        )

    def _ask(self, place: Place, tick: Tick, ended: int) -> None:
        if not tick(ended):
            raise _stopped(place)

    def _compute(self, events: int, deadline: float, go_on: Callable[[], None]) -> bool:
        """Sleep for so many events; whether that ended in time."""
        until = time.monotonic() + events * self.options.compute
        while True:
            go_on()
            now = time.monotonic()
            if now > deadline:
                return False
            if now >= until:
                return True
            time.sleep(max(0.0, min(until - now, deadline - now + 0.001, _ASK_SECONDS)))

    def _measured(self, jobs: Sequence[Measurement], wall_seconds: float) -> Measurement:
        events = math.fsum(job.figures["events"] for job in jobs)
        if not events:
            raise _no_event(self.options)
        read_bytes = math.fsum(job.figures["read"] for job in jobs)
        worked = math.fsum(job.figures["seconds"] for job in jobs)
        latencies = pool_histograms(job.latencies["step"] for job in jobs)
        figures = {
            "event_rate": events / wall_seconds,
            "events": events,
            "read_rate": read_bytes / _MB / wall_seconds,
            "cpu_efficiency": 100 * events * self.options.compute / worked,
            "exec_time": wall_seconds,
            **{f"latency_p{p:g}": percentile_us(latencies, p) for p in PERCENTILES},
            "latency_max": latencies[-1][0],
        }
        if self.options.file is None and self.options.branches == _ALL:
            figures[BYTES] = math.fsum(job.figures["requested"] for job in jobs)
        return Measurement(figures, {"step": latencies})


def _stopped(place: Place) -> WorkloadStoppedError:
    return WorkloadStoppedError("to read the events of a ROOT file", where=str(place.directory))


def _no_event(options: RootEventsOptions) -> WorkloadError:
    return WorkloadError(
        "to read and compute events",
        found=f"none was ended in {units.format_exact_seconds(options.duration)}",
        where=str(options.file or "the file that was made"),
        remedy="give a longer duration, less computing for an event, or a file that has events",
    )


ROOT_EVENTS = WorkloadDefinition(
    name="root-events",
    models="batch jobs of high-energy physics that read a real ROOT file with uproot. They read "
    "it basket by basket, like report R5's jobs with ROOT, and sleep for the computing time",
    not_modelled="separate processes: the jobs are threads of one Python, which executes one at a "
    "time, so Python limits the rate beyond some number of jobs (`events` has no such "
    "limit); compression and verification: a generated file is uncompressed and verified, a "
    "user's file may be compressed and is not verified; TTreeCache",
    source="report R5; uproot (scikit-hep)",
    options=RootEventsOptions,
    figures=fixed_figures(
        Figure("event_rate", "events/s", "events over the time of all jobs", True),
        Figure("events", "events", "events that were read and computed in time", True),
        Figure(
            "read_rate",
            "MB/s",
            "bytes of these events that uproot read (10^6 B) over the time",
            True,
        ),
        Figure("cpu_efficiency", "%", "computing time of these events over the jobs' time", True),
        Figure(
            "exec_time", "s", "from the first start to the last end, or to the time limit", False
        ),
        *latency_figures("reading a step of events into arrays, to 4.4 %"),
        Figure(BYTES, "B", "bytes that uproot requested of a generated file", True),
    ),
    example={"jobs": 2, "events": 20, "step": 2, "compute": "50ms"},
    make=RootEvents,
    concurrency_options=("jobs",),
)
