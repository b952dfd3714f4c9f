"""Trials of one block on this machine, with shared data and an equal initial state.

A stopwatch has the phases of a trial, and a step that takes long is reported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from pydantic import BaseModel

from iostudy.account import act_as
from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.line_handler import LineHandler
from iostudy.node import caches, target_devices
from iostudy.node.conditions import Callbacks, Conditions
from iostudy.node.levels import read_back
from iostudy.node.local_switched_run import LocalSwitchedRun
from iostudy.node.protocol import Span, TrialResult
from iostudy.node.service import Service, ServiceClient
from iostudy.node.site import Site, read_disk_states
from iostudy.node.volume_sync import ResyncWatch
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.plan import FORMAT_PHASE
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.telemetry.summary import Submitter
from iostudy.units import format_rounded_size, format_seconds
from iostudy.workloads import catalog
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.workload import NO_TARGET, Place, TargetPaths, Workload


class Stopwatch:
    """Seconds by phase; the start of a phase ends the previous one."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._phase = ""
        self._since = time.monotonic()

    def begin(self, phase: str) -> None:
        """Start a phase."""
        now = time.monotonic()
        if self._phase:
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def end(self) -> dict[str, float]:
        """End the last phase and return seconds by phase, in order."""
        self.begin("")
        return self._seconds


SLOW_SECONDS = 5.0
"""A choice: a person begins to wonder."""


@contextmanager
def report_slow_step(on_progress: LineHandler, step: str) -> Iterator[None]:
    """Pass one line to ``on_progress`` if the block takes longer than SLOW_SECONDS.

    sync(2) and drop_caches wait for every file system of the host, one after the other. A slow
    write or unmount of any of them holds them up, and nothing can interrupt them.
    """
    line = (
        f"{step} takes over {format_seconds(SLOW_SECONDS)}: the kernel waits for all file systems "
        "of the host, and one of them is slow to write or to unmount"
    )
    timer = threading.Timer(SLOW_SECONDS, on_progress, (line,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


_DIRTY_PAGES_NOTE = "dirty pages written out before every trial"
_PRELOADED_NOTE = "the program files of Hadoop and Java read in again after that"
_REMOTE_CACHES_NOTE = (
    "page caches of other machines are as they are, and without root those of this one for files "
    "in HDFS: DataNodes may read from memory, and write out what was written before"
)
_SERVER_CACHES_NOTE = (
    "caches of servers and of FUSE processes are as they are: only those of this kernel are dropped"
)
_NO_DEVICE_NOTE = "no block device below the target, so foreign I/O cannot be noticed"

DataKey = tuple[str, frozenset[tuple[str, str]]]
"""Key of prepared data: the preparation and the HDFS properties that are stored with it."""


@dataclass
class LocalBlock:
    """The session of one block. ``devices`` are those under test: they share the workload's files.

    Data are prepared under the host's own settings, before any level is applied, and all
    configurations share them. If the study varies the file system or the directory, each whole plot
    has its own data of the same content. A run that takes longer than its limit is ended. Leaving
    the session removes the files of the trials.
    """

    request: WorkloadRequest
    site: Site
    seed: int
    devices: tuple[str, ...]
    make_recorder: Callable[[], Recorder]
    begin_plot: Callable[[Configuration], None]
    conditions: Conditions
    callbacks: Callbacks
    target: TargetPaths = NO_TARGET
    _prepared: dict[DataKey, Workload] = field(default_factory=dict)
    _whole_plot: str = ""
    _client: ServiceClient | None = None

    @property
    def place(self) -> Place:
        """The current place of the trials."""
        site = self.site
        return Place(
            site.directory,
            self.seed,
            self.callbacks.tick,
            self._client,
            {**site.disks, **self._compared},
            self.target,
            account=site.account,
            folders=site.folders,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        ended = kind is not None and not issubclass(kind, Exception)
        # Data are removed with their service, so an interrupted study need not delete its files.
        if not ended or self._service is None:
            self.clean()

    def trial(self, configuration: Configuration) -> TrialResult:
        """Format and prepare if needed, apply, reset, run under telemetry, read back, restore."""
        watch = Stopwatch()
        options = apply_configuration(self.request, configuration)
        workload = catalog.get(self.request.name).make(options)
        self._begin(configuration, watch)
        self._prepare(workload, configuration, watch)
        watch.begin("apply")
        with self.site.levels.applied(configuration) as wanted:
            self._configure(configuration, watch)
            devices = self._devices_of(workload)
            notes = self._reset_state(workload, options, devices, watch)
            watch.begin("run")
            disks = [disk.watch() for disk in self.site.scratch_disks]
            resync = ResyncWatch.begin(devices)
            with self.site.watch_faults() as find_faults:
                measured, telemetry, span = self._measure(workload)
                resyncs = resync.end()
                disk_figures, late = read_disk_states(disks)
                faults = find_faults()
            volume = None if self.site.volume is None else self.site.volume.device.path
            watch.begin("restore")
            settings = {
                **self.site.read_back(),
                **read_back(wanted),
                **(self._service.read_back(configuration) if self._service else {}),
            }
        return TrialResult(
            figures=measured.figures,
            settings=settings,
            telemetry=_complete(telemetry, resyncs, disk_figures, volume),
            devices=devices,
            phases=watch.end(),
            notes=(*notes, *measured.notes, *measured.departures),
            latencies=measured.latencies,
            parts=measured.parts,
            departures=(*measured.departures, *late, *faults),
            span=span,
        )

    @contextmanager
    def switched_run(self, configurations: Sequence[Configuration]) -> Iterator[LocalSwitchedRun]:
        """Prepare, apply the first configuration, reset, and start the run under telemetry."""
        watch, first = Stopwatch(), configurations[0]
        options = apply_configuration(self.request, first)
        workload = catalog.get(self.request.name).make(options)
        self._begin(first, watch)
        self._prepare(workload, first, watch)
        with self.site.levels.switched(configurations) as levels:
            devices = self._devices_of(workload)
            notes = self._reset_state(workload, options, devices, watch)
            run = LocalSwitchedRun(
                lambda tick: workload.steady_run(replace(self.place, tick=tick)),
                levels,
                self.make_recorder(),
                self.site,
                devices,
                notes,
            )
            with run:
                yield run

    def clean(self) -> None:
        """Remove the files of the trials, after a repair of the service."""
        if self._prepared and self._service is not None:
            self._client = self._service.default_client()
        for workload in self._prepared.values():
            with act_as(self.site.account):
                workload.clean(self.place)

    @property
    def _compared(self) -> Mapping[str, Path]:
        """The directories that the study compares, by name."""
        return {name: path.absolute() for name, path in self.conditions.target.compared.items()}

    @property
    def _service(self) -> Service | None:
        """The service of the workload, if it needs one."""
        return self.site.service if catalog.get(self.request.name).service else None

    def _begin(self, configuration: Configuration, watch: Stopwatch) -> None:
        """Begin a new whole plot; the first trial of a block always needs one, if it has any."""
        if configuration.whole_plot != self._whole_plot:
            watch.begin("prepare" if configuration.directory else FORMAT_PHASE)
            self._prepared, self._client = {}, None
            self.begin_plot(configuration)
            self._whole_plot = configuration.whole_plot
        if self.site.lacks_service:
            watch.begin("start")
            self.site.start_service()

    def _prepare(self, workload: Workload, configuration: Configuration, watch: Stopwatch) -> None:
        """Prepare the data, unless an earlier trial of the block has prepared the same."""
        named = [path for name, path in self._compared.items() if name in workload.disks()]
        self.site.make_folders((*workload.directories(), *named))
        made = workload.preparation()
        stored = self._service.stored_levels(configuration) if made and self._service else {}
        key = (made, frozenset(stored.items()))
        if key not in self._prepared:
            watch.begin("prepare")
            self.clean()
            # Noted first, so that half-made data are cleaned as well.
            self._prepared = {key: workload}
            if self._service is not None:
                self._client = (
                    self._service.client_for_data(stored)
                    if made
                    else self._service.default_client()
                )
            with act_as(self.site.account):
                workload.prepare(self.place)

    def _devices_of(self, workload: Workload) -> tuple[str, ...]:
        """Return the devices of this trial's files, a subset of those under test."""
        if self._service is not None:
            return self.devices
        return target_devices.top_device_names(*workload.places(self.place))

    def _configure(self, configuration: Configuration, watch: Stopwatch) -> None:
        """Configure the service after the host, so that it starts under the host's levels."""
        if self._service is not None:
            request = self.conditions.service
            watch.begin("restart" if request and request.restarts else "configure")
            self._client = self._service.configured(configuration)

    def _reset_state(
        self, workload: Workload, options: BaseModel, devices: Sequence[str], watch: Stopwatch
    ) -> tuple[str, ...]:
        """Bring files, dirty pages, page cache and memory into the initial state of every trial."""
        watch.begin("reset")
        with act_as(self.site.account):
            workload.reset(self.place)
        if self._service is not None:
            watch.begin("settle")
            self._service.settle()
        watch.begin("sync")
        with report_slow_step(self.site.on_progress, "writing out dirty pages"):
            caches.write_dirty_pages()
        notes = [_DIRTY_PAGES_NOTE] if devices else [_DIRTY_PAGES_NOTE, _NO_DEVICE_NOTE]
        if self._service is not None and not self._service.data_dirs():
            notes.append(_REMOTE_CACHES_NOTE)
        if self.site.storage is not None and not self.site.storage.drops_caches:
            notes.append(_SERVER_CACHES_NOTE)
        if workload.reads():
            watch.begin("drop")
            with report_slow_step(self.site.on_progress, "dropping the page cache"):
                notes += self._drop()
        if self.conditions.warm_memory and catalog.get(self.request.name).uses_page_cache(options):
            watch.begin("warm")
            touched = format_rounded_size(caches.touch_free_memory(workload.space_bytes()))
            notes.append(f"{touched} of free memory touched before the trial")
        return tuple(notes)

    def _drop(self) -> list[str]:
        """Drop caches, then preload the program files that read the data."""
        data = self._service.data_dirs() if self._service else ()
        place, site = self.place, self.site
        directories = [place.directory, *site.disks.values(), *site.folders.values(), *data]
        notes = [caches.drop_caches(directories, place.account)]
        if self._client is not None:
            caches.preload_files(self._client.program_files())
            notes.append(_PRELOADED_NOTE)
        return notes

    def _measure(self, workload: Workload) -> tuple[Measurement, Telemetry, Span]:
        recorder = self.make_recorder()
        wait = self.callbacks.start_line()
        recorder.start()
        wait()
        began = time.monotonic()
        try:
            with act_as(self.site.account):
                measured = self._run(workload)
            span = Span(began, time.monotonic())
        except WorkloadError:
            self._verify()  # the log of a failed daemon explains more than the job
            raise
        finally:
            telemetry = recorder.stop()
        measured.verify()
        self._verify()
        return measured, telemetry, span

    def _run(self, workload: Workload) -> Measurement:
        """Run it; WorkloadError if it runs longer than the study allows."""
        longest = self.conditions.limit.duration
        if longest is None:
            return workload.run(self.place)
        deadline, tick = time.monotonic() + longest, self.callbacks.tick
        place = replace(self.place, tick=lambda n: tick(n) and time.monotonic() < deadline)
        try:
            return workload.run(place)
        except WorkloadStoppedError as error:
            if time.monotonic() < deadline:
                raise
            raise WorkloadError(
                f"a run of {self.request.label} within {format_seconds(longest)}",
                found="it was still running, and was ended",
                where=str(self.site.directory),
                remedy="give the workload less to do, or raise the duration in `limit`",
            ) from error

    def _verify(self) -> None:
        if self._service is not None:
            self._service.verify()


def _complete(
    telemetry: Telemetry,
    resyncs: Sequence[Submitter],
    figures: Mapping[str, Mapping[str, float]],
    volume: Path | None,
) -> Telemetry:
    """Add resyncs, figures of disks, and the layers of a volume, which the next one may lack."""
    summary = telemetry.summary
    more = {name: {**summary.devices.get(name, {}), **new} for name, new in figures.items()}
    summary = replace(
        summary,
        submitters=(*summary.submitters, *resyncs),
        devices={**summary.devices, **more},
        below={} if volume is None else target_devices.stack_below(volume),
        titles={} if volume is None else target_devices.device_titles(volume),
    )
    return replace(telemetry, summary=summary)
