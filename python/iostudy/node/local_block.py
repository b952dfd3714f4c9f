"""One block on this machine: its data are made once, its trials all begin alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from iostudy.node import caches
from iostudy.node.levels import read_back
from iostudy.node.protocol import TrialResult
from iostudy.node.site import Site
from iostudy.node.stopwatch import Stopwatch
from iostudy.study.model import Configuration, WorkloadRequest
from iostudy.study.plan import FORMAT_PHASE
from iostudy.study.requests import configured
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.workloads import catalog
from iostudy.workloads.definition import Measured, Place, Tick, Workload

_WRITTEN_OUT = "dirty pages written out before every trial"
_NO_DEVICE = "no block device below the target, so foreign I/O cannot be noticed"


@dataclass
class LocalBlock:
    """The session of one block. ``device`` is the one under test, empty if there is none.

    Data are prepared before any level is applied: all configurations share what the host's own
    settings made. Where the study varies the file system, each whole plot has a new one, and data
    of its own with the same content.
    """

    request: WorkloadRequest
    site: Site
    seed: int
    device: str
    make_recorder: Callable[[], Recorder]
    tick: Tick
    _prepared: dict[str, Workload] = field(default_factory=dict)
    _whole_plot: str = ""

    @property
    def place(self) -> Place:
        """Where the trials work now."""
        return Place(self.site.directory, self.seed, self.tick)

    def trial(self, configuration: Configuration) -> TrialResult:
        """Format and prepare if need be, apply, reset, run under telemetry, read back, restore."""
        watch = Stopwatch()
        workload = catalog.get(self.request.name).make(configured(self.request, configuration))
        self._begin(configuration, watch)
        self._prepare(workload, watch)
        watch.begin("apply")
        with self.site.levels.applied(configuration) as wanted:
            notes = self._make_alike(workload, watch, drop=workload.reads())
            watch.begin("run")
            measured, telemetry = self._measure(workload)
            watch.begin("restore")
            settings = {**self.site.read_back(), **read_back(wanted)}
        return TrialResult(
            figures=measured.figures,
            settings=settings,
            telemetry=telemetry,
            device=self.device,
            phases=watch.end(),
            notes=(*notes, *measured.notes),
            latencies=measured.latencies,
            parts=measured.parts,
        )

    def clean(self) -> None:
        """Remove what the trials have made."""
        for workload in self._prepared.values():
            workload.clean(self.place)

    def _begin(self, configuration: Configuration, watch: Stopwatch) -> None:
        """Make the file system of a whole plot that begins; the first of the block always does."""
        if configuration.whole_plot != self._whole_plot:
            watch.begin(FORMAT_PHASE)
            self._prepared = {}
            self.site.renew(configuration)
            self._whole_plot = configuration.whole_plot

    def _prepare(self, workload: Workload, watch: Stopwatch) -> None:
        """Make the data, unless an earlier trial of the block has made the same."""
        key = workload.preparation()
        if key not in self._prepared:
            self.clean()
            # Noted first, so that half-made data are cleaned as well.
            self._prepared = {key: workload}
            watch.begin("prepare")
            workload.prepare(self.place)

    def _make_alike(self, workload: Workload, watch: Stopwatch, *, drop: bool) -> tuple[str, ...]:
        """Bring files, dirty pages and page cache into the state that every trial begins with."""
        watch.begin("reset")
        workload.reset(self.place)
        watch.begin("sync")
        caches.write_out()
        notes = [_WRITTEN_OUT] if self.device else [_WRITTEN_OUT, _NO_DEVICE]
        if drop:
            watch.begin("drop")
            notes.append(caches.drop(self.place.directory))
        return tuple(notes)

    def _measure(self, workload: Workload) -> tuple[Measured, Telemetry]:
        recorder = self.make_recorder()
        recorder.start()
        try:
            measured = workload.run(self.place)
        finally:
            telemetry = recorder.stop()
        return measured, telemetry
