"""One block on this machine: its data are made once, its trials all begin alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from iostudy.errors import WorkloadError
from iostudy.hadoop.client import Client
from iostudy.node import caches, target_devices
from iostudy.node.clusters import ClusterLevels, shaping
from iostudy.node.levels import read_back
from iostudy.node.protocol import TrialResult
from iostudy.node.site import Site
from iostudy.node.stopwatch import Stopwatch
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.plan import FORMAT_PHASE
from iostudy.study.requests import configured
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.workloads import catalog
from iostudy.workloads.definition import Measured, Place, Tick, Workload

_WRITTEN_OUT = "dirty pages written out before every trial"
_READ_IN = "the program files of Hadoop and Java read in again after that"
_ELSEWHERE = (
    "page caches of other machines are as they are, and without root those of this one for files "
    "in HDFS: DataNodes may read from memory, and write out what was written before"
)
_NO_DEVICE = "no block device below the target, so foreign I/O cannot be noticed"

Made = tuple[str, frozenset[tuple[str, str]]]
"""What data are: what a workload has made, and the properties of HDFS that are stored with it."""


@dataclass
class LocalBlock:
    """The session of one block. ``devices`` are those under test: they share the workload's files.

    Data are prepared before any level is applied: all configurations share what the host's own
    settings made. Where the study varies the file system, each whole plot has a new one, and data
    of its own with the same content. ``restarts`` says whether the daemons of a cluster are started
    anew before every trial. Leaving the session removes what the trials have made.
    """

    request: WorkloadRequest
    site: Site
    seed: int
    devices: tuple[str, ...]
    make_recorder: Callable[[], Recorder]
    tick: Tick
    restarts: bool = False
    _prepared: dict[Made, Workload] = field(default_factory=dict)
    _whole_plot: str = ""
    _client: Client | None = None

    @property
    def place(self) -> Place:
        """Where the trials work now."""
        own = self.site
        return Place(own.directory, self.seed, self.tick, self._client, own.disks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        ended = kind is not None and not issubclass(kind, Exception)
        # HDFS is gone with its cluster: whoever ends the study need not wait for each file of it.
        if not ended or self._cluster is None:
            self.clean()

    def trial(self, configuration: Configuration) -> TrialResult:
        """Format and prepare if need be, apply, reset, run under telemetry, read back, restore."""
        watch = Stopwatch()
        workload = catalog.get(self.request.name).make(configured(self.request, configuration))
        self._begin(configuration, watch)
        self._prepare(workload, configuration, watch)
        watch.begin("apply")
        with self.site.levels.applied(configuration) as wanted:
            self._configure(configuration, watch)
            devices = self._devices_of(workload)
            notes = self._make_alike(workload, devices, watch)
            watch.begin("run")
            measured, telemetry = self._measure(workload)
            watch.begin("restore")
            settings = {
                **self.site.read_back(),
                **read_back(wanted),
                **(self._cluster.read_back(configuration) if self._cluster else {}),
            }
        return TrialResult(
            figures=measured.figures,
            settings=settings,
            telemetry=telemetry,
            devices=devices,
            phases=watch.end(),
            notes=(*notes, *measured.notes, *measured.departures),
            latencies=measured.latencies,
            parts=measured.parts,
            departures=measured.departures,
        )

    def clean(self) -> None:
        """Remove what the trials have made; a cluster is made whole first, whatever befell it."""
        if self._prepared and self._cluster is not None:
            self._client = self._cluster.whole()
        for workload in self._prepared.values():
            workload.clean(self.place)

    @property
    def _cluster(self) -> ClusterLevels | None:
        """The cluster that the workload runs on, if it needs one."""
        running = self.site.cluster
        if running is None or not catalog.get(self.request.name).needs_hadoop:
            return None
        return ClusterLevels(running, self.restarts)

    def _begin(self, configuration: Configuration, watch: Stopwatch) -> None:
        """Make the file system of a whole plot that begins; the first of the block always does."""
        if configuration.whole_plot != self._whole_plot:
            watch.begin(FORMAT_PHASE)
            self._prepared, self._client = {}, None
            self.site.renew(configuration)
            self._whole_plot = configuration.whole_plot
        if self.site.lacks_cluster:
            watch.begin("start")
            self.site.start_cluster()

    def _prepare(self, workload: Workload, configuration: Configuration, watch: Stopwatch) -> None:
        """Make the data, unless an earlier trial of the block has made the same."""
        made = workload.preparation()
        stored = shaping(configuration) if made and self._cluster is not None else {}
        key = (made, frozenset(stored.items()))
        if key not in self._prepared:
            watch.begin("prepare")
            self.clean()
            # Noted first, so that half-made data are cleaned as well.
            self._prepared = {key: workload}
            if self._cluster is not None:
                self._client = self._cluster.for_data(stored) if made else self._cluster.whole()
            workload.prepare(self.place)

    def _devices_of(self, workload: Workload) -> tuple[str, ...]:
        """Those that this trial's files lie on: not all that are under test need have some."""
        if self._cluster is not None:
            return self.devices
        return target_devices.tops(*workload.places(self.place))

    def _configure(self, configuration: Configuration, watch: Stopwatch) -> None:
        """Bring the cluster to its levels: now, so that daemons start under those of the host."""
        if self._cluster is not None:
            watch.begin("restart" if self.restarts else "configure")
            self._client = self._cluster.configured(configuration)

    def _make_alike(
        self, workload: Workload, devices: Sequence[str], watch: Stopwatch
    ) -> tuple[str, ...]:
        """Bring files, dirty pages and page cache into the state that every trial begins with."""
        watch.begin("reset")
        workload.reset(self.place)
        if self._cluster is not None:
            watch.begin("settle")
            self._cluster.cluster.settle()
        watch.begin("sync")
        caches.write_out()
        notes = [_WRITTEN_OUT] if devices else [_WRITTEN_OUT, _NO_DEVICE]
        if self._cluster is not None and not self._cluster.cluster.data_dirs():
            notes.append(_ELSEWHERE)
        if workload.reads():
            watch.begin("drop")
            notes += self._drop()
        return tuple(notes)

    def _drop(self) -> list[str]:
        """Have files read from the devices, but for those of the programs that read them."""
        data = self._cluster.cluster.data_dirs() if self._cluster else ()
        place = self.place
        notes = [caches.drop([place.directory, *place.disks.values(), *data])]
        if self._client is not None:
            caches.read_in(self._client.program_files())
            notes.append(_READ_IN)
        return notes

    def _measure(self, workload: Workload) -> tuple[Measured, Telemetry]:
        recorder = self.make_recorder()
        recorder.start()
        try:
            measured = workload.run(self.place)
        except WorkloadError:
            self._verify()  # a job that fails without a daemon says less than that daemon's log
            raise
        finally:
            telemetry = recorder.stop()
        measured.verify()
        self._verify()
        return measured, telemetry

    def _verify(self) -> None:
        if self._cluster is not None:
            self._cluster.cluster.verify()
