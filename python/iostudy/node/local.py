"""The machine that iostudy runs on, as a node."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, assert_never

from iostudy.errors import ClusterError, IostudyError, SettingError, TargetError
from iostudy.folders import require_safe_folder
from iostudy.host import stack, usage
from iostudy.host.inventory import inventory
from iostudy.node import target_devices
from iostudy.node.clusters import (
    ClusterLevels,
    ClusterRequest,
    needs_restarts,
    require_native_library,
)
from iostudy.node.free_space import FreeSpace, require_room, room_in
from iostudy.node.levels import locked
from iostudy.node.local_block import LocalBlock
from iostudy.node.permission import Permission
from iostudy.node.site import Ground, Site
from iostudy.settings import places
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.trace_instance import TraceInstance, usable_tracefs
from iostudy.settings.transaction.locks import lock_directory
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Configuration, Factor
from iostudy.study.model import WorkloadRequest, describe_target
from iostudy.study.plan import whole_plots
from iostudy.study.requests import check_workloads
from iostudy.study.targets import DirectoryTarget, HdfsTarget, LoopbackTarget, ScratchTarget, Target
from iostudy.telemetry.block_events import BlockEvents, WithBlockEvents
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.telemetry.recorder import ProcRecorder, Recorder
from iostudy.units import format_seconds
from iostudy.workloads import catalog
from iostudy.workloads.definition import Tick, go_on
from iostudy.workloads.native.latency import compact

LIBRARIES = ("numpy", "scipy", "polars", "pydantic")
_NO_PERMISSION = Permission()


class LocalNode:
    """The local machine with one target, for as long as the context is open.

    Entering locks output folder and devices and makes the scratch disk; leaving puts back
    everything, also after an error. ``folder`` is the output folder; it must exist. ``factors`` are
    what varies, on the target or elsewhere; ``directories`` what workloads are told to use beside
    the target; ``order`` is the cluster that a workload needs, if one does: it is started on
    entering, too. With ``block_latency`` every trial tells of the requests of the devices below the
    target as well. ``hz`` is how often a second telemetry is sampled. ``permission`` is what the
    user allows: a device to destroy, folders that others can redirect.
    """

    def __init__(
        self,
        target: Target,
        folder: Path,
        factors: Sequence[Factor] = (),
        order: ClusterRequest | None = None,
        tick: Tick = go_on,
        *,
        directories: Sequence[Path] = (),
        permission: Permission = _NO_PERMISSION,
        block_latency: bool = False,
        hz: float = DEFAULT_HZ,
    ) -> None:
        self._target = target
        self._folder = folder
        self._factors = factors
        self._order = order
        self._tick = tick
        self._directories = directories
        self._permission = permission
        self._block_latency = block_latency
        self._trace: TraceInstance | None = None
        self._hz = hz
        self._held = ExitStack()
        self._notes: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        if self._block_latency:
            usable_tracefs()  # before any disk is made
        ground = self._ground = self._prepared_ground()
        for directory in self._cluster_dirs():
            WorkFolder.prepare(directory)
        self._require_safe_folders()
        with ExitStack() as held:
            held.enter_context(lock_directory(self._folder))
            held.enter_context(locked((self._place(), *self._cluster_dirs()), self._factors))
            transaction = held.enter_context(Transaction())
            if ground is not None:
                for disk in ground.disks:
                    transaction.perform(disk)
                self._notes = tuple(note for disk in ground.disks for note in disk.notes())
            parent = ground.disk.mount_point if ground else self._place()
            self._site = Site(transaction, parent, ground, self._order)
            held.callback(self._site.close)
            if self._block_latency:
                self._trace = TraceInstance.prepare(target_devices.queued(self._devices()))
                transaction.perform(self._trace)
            if self._order is not None:
                self._begin_cluster(self._order)
            self._held = held.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._held.__exit__(kind, error, traceback)

    def _require_safe_folders(self) -> None:
        """UnsafePathError for a directory where another user could put a link to other files.

        What a study makes there has names of its own, so a sticky directory is safe.
        """
        places = (self._folder, self._place(), *self._cluster_dirs(), *self._directories)
        for place in dict.fromkeys(place for place in places if not place.is_block_device()):
            require_safe_folder(place, insist=self._permission.unsafe_folders, shared=True)

    def _begin_cluster(self, order: ClusterRequest) -> None:
        began = time.monotonic()
        self._site.start_cluster(order.tell)
        order.tell(f"the cluster is ready after {format_seconds(time.monotonic() - began)}")

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """The setting's levels below the target, or on these places, in catalogue order."""
        return self._site.levels.offered(setting, on)

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Make every file system once, and check its room; write and restore every level once."""
        check_workloads(requests, configurations)
        refused: dict[str, IostudyError] = {}
        for plot in whole_plots(configurations):
            try:
                self._begin(plot[0])
            except (SettingError, ClusterError) as error:
                refused |= dict.fromkeys((each.label for each in plot), error)
                continue
            target = describe_target(self._target, self._factors)
            where = ", ".join(filter(None, (target, plot[0].whole_plot)))
            spec = self._order.spec if self._order else None
            require_room(requests, plot, self._room(where), spec)
            refused |= self._refused(plot)
        return refused

    def _begin(self, configuration: Configuration) -> None:
        if configuration.whole_plot:
            self._site.renew(configuration)
        if self._site.lacks_cluster:
            self._site.start_cluster()

    def _room(self, where: str) -> FreeSpace:
        """On the disk that has the least: workloads tell what they want on one of several."""
        if self._is_far:
            return FreeSpace(where, None)
        places = (self._site.directory, *self._site.disks.values())
        return min((room_in(where, each) for each in places), key=lambda room: room.free_bytes or 0)

    def _refused(self, plot: Sequence[Configuration]) -> dict[str, IostudyError]:
        """Those of the plot whose settings are not there, or are not taken."""
        refused: dict[str, IostudyError] = {}
        for configuration in plot:
            try:
                with self._site.levels.applied(configuration):
                    self._try_on_cluster(configuration)
            except (SettingError, TargetError, ClusterError) as error:
                refused[configuration.label] = error
        return refused

    def _try_on_cluster(self, configuration: Configuration) -> None:
        if self._site.cluster is not None:
            levels = ClusterLevels(self._site.cluster, needs_restarts(self._factors))
            client = levels.configured(configuration)
            levels.read_back(configuration)
            if not isinstance(self._target, HdfsTarget):
                require_native_library(client, configuration)

    def circumstances(self) -> Mapping[str, Any]:
        """Host, versions, and the target with the devices below it."""
        return {
            "host": dict(inventory(self._mounted())),
            "versions": {
                "iostudy": version("iostudy"),
                "python": platform.python_version(),
                **{name: version(name) for name in LIBRARIES},
            },
            "target": {
                "description": describe_target(self._target, self._factors),
                "devices": list(self._devices()),
                "identity": [] if self._is_far else target_devices.identity(self._place()),
                "on": {place: target_devices.identity(place) for place in self._elsewhere()},
                "notes": list(self._notes),
            },
            **({"hadoop": dict(self._site.cluster.facts())} if self._site.cluster else {}),
        }

    @contextmanager
    def block(self, request: WorkloadRequest, seed: int) -> Iterator[LocalBlock]:
        """A session in the work folder, which is empty before and after."""
        session = LocalBlock(
            request=request,
            site=self._site,
            seed=seed,
            devices=self._under_test(request),
            make_recorder=self._recorder,
            tick=self._tick,
            restarts=needs_restarts(self._factors),
        )
        with session:
            yield session

    def _recorder(self) -> Recorder:
        """For a trial that begins now: the workload are this process and the cluster's."""
        cluster = self._site.cluster
        workload = (os.getpid(), *(cluster.pids() if cluster else ()))
        recorder = ProcRecorder(self._devices(), workload, self._hz)
        if self._trace is None:
            return recorder
        names = {device.number: device.name for device in target_devices.queued(self._devices())}
        return WithBlockEvents(recorder, BlockEvents(self._trace.path, names, compact))

    def _place(self) -> Path:
        """Where the target is, or will be made."""
        match self._target:
            case LoopbackTarget() | DirectoryTarget(None) | HdfsTarget():
                return self._folder
            case ScratchTarget():
                # Not by the name that the user gave: that may be a link, and lead elsewhere by now.
                assert self._ground is not None
                return self._ground.disk.device.path
            case DirectoryTarget(Path() as path):
                return path
            case _:
                raise AssertionError(self._target)

    def _bases(self) -> tuple[Path, ...]:
        """What the devices under test are found by, also while no file system is mounted."""
        ground = self._ground
        own = [disk.device.path for disk in ground.disks] if ground else [self._site.directory]
        return (*own, *self._directories)

    def _prepared_ground(self) -> Ground | None:
        """The disk that is to be made, or none; TargetError where the target cannot be used."""
        match self._target:
            case LoopbackTarget(size_bytes, filesystem, beside):
                count = 1 + len(beside)
                disk, *others = LoopbackDisk.prepare_several(self._folder, size_bytes, count)
                made = zip(beside.items(), others, strict=True)
                further = {name: Ground(own, Filesystem(kind)) for (name, kind), own in made}
                return Ground(disk, Filesystem(filesystem), further)
            case ScratchTarget(device, filesystem):
                scratch = ScratchDevice.prepare(device, self._folder, self._permission.scratch)
                return Ground(scratch, Filesystem(filesystem))
            case DirectoryTarget() | HdfsTarget():
                _refuse_device(self._place())
                WorkFolder.prepare(self._place())
                return None
            case unreachable:
                assert_never(unreachable)

    def _cluster_dirs(self) -> tuple[Path, ...]:
        """The directories beside the target that a cluster of the study's own lies in."""
        return self._order.spec.dirs if self._order else ()

    def _elsewhere(self) -> tuple[str, ...]:
        """The places beside the target that the study is about."""
        varied = places.resolved(place for factor in self._factors for place in factor.on)
        own = (*self._cluster_dirs(), *self._directories)
        return tuple(dict.fromkeys((*varied, *map(str, own))))

    def _mounted(self) -> list[Path]:
        """The directories whose mounts matter; what is not there is refused later."""
        named = [directory for directory in self._directories if directory.exists()]
        return [self._site.directory, *self._site.disks.values(), *named]

    @property
    def _is_far(self) -> bool:
        """Whether the files of the study lie on no disk of this machine, as far as it can tell."""
        return isinstance(self._target, HdfsTarget)

    def _devices(self) -> tuple[str, ...]:
        """The devices that files of the study lie on, from the top."""
        return () if self._is_far else target_devices.names(*self._bases(), *self._cluster_dirs())

    def _under_test(self, request: WorkloadRequest) -> tuple[str, ...]:
        """The devices that files of the workload lie on, none of them below another."""
        if self._is_far:
            return ()
        in_hdfs = self._order is not None and catalog.get(request.name).needs_hadoop
        apart = self._order.spec.data_dirs if self._order and in_hdfs else ()
        return target_devices.tops(*(apart or self._bases()))


def _refuse_device(place: Path) -> None:
    """A device that is named as a directory is not taken for a scratch device."""
    if place.is_block_device():
        uses = usage.uses_of(stack.devices_of(place)[0])
        raise TargetError(
            "a directory",
            found="a block device" + (f" ({'; '.join(uses)})" if uses else ""),
            where=str(place),
            remedy="name the directory it is mounted on; or, if all data on it may be destroyed, "
            f"write target: {{scratch: {{device: {place}}}}}",
        )
