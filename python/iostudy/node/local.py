"""Local machine as a node."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from iostudy.account import Account
from iostudy.errors import ClusterError, IostudyError, SettingError, TargetError, raise_together
from iostudy.folders import require_safe_directories, require_safe_target
from iostudy.host import devices
from iostudy.host.devices import BlockDevice
from iostudy.host.inventory import collect_inventory
from iostudy.host.mounts import find_mount
from iostudy.node import target_devices
from iostudy.node.conditions import (
    NO_CALLBACKS,
    NO_PERMISSION,
    Callbacks,
    Conditions,
    Permission,
    describe_account,
)
from iostudy.node.free_space import FreeSpace, require_space, smallest_free_space
from iostudy.node.levels import lock_places
from iostudy.node.local_block import LocalBlock
from iostudy.node.member_speed import measure_members
from iostudy.node.site import Site
from iostudy.node.targets.driver import find_driver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings import places
from iostudy.settings.trace_instance import TraceInstance, usable_tracefs
from iostudy.settings.transaction.locks import lock_directory, lock_mount_points
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.plan import whole_plots
from iostudy.study.requests import find_unmet_needs
from iostudy.telemetry.block_events import BlockEvents, CombinedRecorder
from iostudy.telemetry.recorder import ProcRecorder, Recorder
from iostudy.units import format_seconds
from iostudy.workloads import catalog
from iostudy.workloads.native.latency import compact_histogram

_PACKAGES = ("iostudy", "numpy", "pydantic")


class LocalNode:
    """The local machine with one target, for as long as the context is open.

    Entering locks output folder and devices, and makes the scratch disk and the service; leaving
    restores everything, also after an error. ``folder`` is the output folder; it must exist.
    ``permission`` covers a device to format and folders that other users can redirect.
    """

    def __init__(
        self,
        conditions: Conditions,
        folder: Path,
        permission: Permission = NO_PERMISSION,
        callbacks: Callbacks = NO_CALLBACKS,
    ) -> None:
        self._conditions = conditions
        self._target = conditions.target
        self._driver = find_driver(conditions.target)
        self._folder = folder
        self._permission = permission
        self._callbacks = callbacks
        self._account: Account | None = None
        self._trace: TraceInstance | None = None
        self._resources = ExitStack()
        self._notes: tuple[str, ...] = ()
        self._members: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        if self._conditions.block_latency:
            usable_tracefs()  # before any disk is made
        scratch = self._scratch = self._prepare_storage()
        with ExitStack() as resources:
            resources.enter_context(lock_directory(self._folder))
            # Held until everything is restored, though the places are known only once mounted.
            locks = resources.enter_context(ExitStack())
            transaction = resources.enter_context(
                Transaction(on_journal=self._callbacks.on_journal)
            )
            if self._target.mount_requests:
                locks.enter_context(lock_mount_points(self._target.compared.values()))
                mounts = self._driver.prepare_mounts(self._folder, self._callbacks.on_progress)
                with lock_places(self._served_paths(), ()):  # a server disturbs no other study
                    for change in mounts:
                        transaction.apply(change)
                self._prepare_storage()
            locks.enter_context(lock_places(self._used_paths(), self._conditions.factors))
            if scratch is not None:
                scratch.make_disks(transaction)
                self._notes += tuple(note for disk in scratch.disks for note in disk.notes())
                if scratch.volume is not None:
                    self._members = measure_members(scratch.disks)
            parent = scratch.mount_point if scratch else self._target_paths()[0]
            self._site = Site(
                transaction, parent, scratch, self._conditions, self._callbacks, self._account
            )
            resources.callback(self._site.close)
            self._start_tracing()
            if (service := self._conditions.service) is not None:
                began = time.monotonic()
                self._site.start_service(service.on_progress)
                passed = format_seconds(time.monotonic() - began)
                service.on_progress(f"the cluster is ready after {passed}")
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._resources.__exit__(kind, error, traceback)

    def _prepare_storage(self) -> ScratchStorage | None:
        """Prepare the scratch disks of the target, and check all directories of the study."""
        scratch = self._driver.prepare(self._folder, self._permission)
        for directory in self._service_dirs():
            WorkFolder.prepare(directory)
        insist = self._permission.unsafe_folders
        paths = self._driver.paths(self._folder, scratch)
        others = () if self._folder in paths else (self._folder,)
        require_safe_directories((*others, *self._service_dirs()), insist=insist)
        self._account = account = require_safe_target(
            (*paths, *self._conditions.directories),
            insist=insist,
            may_be_foreign=self._target.may_be_foreign and self._conditions.service is None,
        )
        self._notes = describe_account(account)
        return scratch

    @property
    def directory(self) -> Path:
        """The study's own folder for the files of its trials."""
        return self._site.directory

    def offered(self, setting: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the setting's levels below the target or on these places, in catalogue order."""
        return self._site.levels.offered(setting, on)

    def preflight(
        self, requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
    ) -> Mapping[str, IostudyError]:
        """Make every file system once and check its space; write and restore every level once."""
        named_paths = self._target.named_paths(self._folder)
        raise_together(find_unmet_needs(requests, configurations, named_paths))
        refused: dict[str, IostudyError] = {}
        for plot in whole_plots(configurations):
            try:
                self._begin(plot[0])
            except (SettingError, ClusterError) as error:
                refused |= dict.fromkeys((configuration.label for configuration in plot), error)
                continue
            target = self._conditions.describe_target()
            where = ", ".join(filter(None, (target, plot[0].whole_plot)))
            service = self._conditions.service
            spec = service.spec if service else None
            space = FreeSpace(where, None)
            if not self._is_remote:
                # Workloads state their need on one disk.
                disks = (self._site.directory, *self._site.disks.values())
                space = smallest_free_space(where, disks)
            require_space(requests, plot, space, spec)
            refused |= self._refused(plot)
        return refused

    def _begin(self, configuration: Configuration) -> None:
        if configuration.whole_plot:
            self._begin_plot(configuration)
        if self._site.lacks_service:
            self._site.start_service()

    def _begin_plot(self, configuration: Configuration) -> None:
        self._site.begin_plot(configuration)
        self._start_tracing()

    def _start_tracing(self) -> None:
        """Make the trace instance of the whole plot, whose volume has a number of its own."""
        if self._conditions.block_latency:
            self._trace = TraceInstance.prepare(self._traced_devices())
            self._site.apply_to_plot(self._trace)

    def _refused(self, plot: Sequence[Configuration]) -> dict[str, IostudyError]:
        """Return the configurations of the plot with missing or refused settings."""
        refused: dict[str, IostudyError] = {}
        for configuration in plot:
            try:
                with self._site.levels.applied(configuration):
                    if self._site.service is not None:
                        self._site.service.try_levels(configuration)
            except (SettingError, TargetError, ClusterError) as error:
                refused[configuration.label] = error
        return refused

    def circumstances(self) -> Mapping[str, Any]:
        """Return host, versions, and the target with the devices below it."""
        request, service = self._conditions.service, self._site.service
        named = [directory for directory in self._conditions.directories if directory.exists()]
        directories = self._target.compared.values() or [self._site.directory]
        return {
            "host": dict(collect_inventory([*directories, *self._site.disks.values(), *named])),
            "versions": {"python": platform.python_version(), **{p: version(p) for p in _PACKAGES}},
            "target": {
                "description": self._conditions.describe_target(),
                "devices": list(self._devices()),
                "identity": [] if self._is_remote else self._target_identities(),
                "on": {
                    place: target_devices.device_identities(place) for place in self._other_places()
                },
                "notes": list(self._notes),
                **({"members": self._members} if self._members else {}),
                **(
                    {"disks": dict(names)}
                    if (names := self._scratch and self._scratch.disk_names)
                    else {}
                ),
            },
            **({request.name: dict(service.facts())} if request and service else {}),
        }

    def block(self, request: WorkloadRequest, seed: int, round_seed: int = 0) -> LocalBlock:
        """Open a session in the work folder, which is empty before and after."""
        return LocalBlock(
            request=request,
            site=self._site,
            seed=seed,
            devices=self._devices_under_test(request),
            make_recorder=self._recorder,
            begin_plot=self._begin_plot,
            conditions=self._conditions,
            callbacks=self._callbacks,
            target=self._target.named_paths(self._folder),
        )

    def _recorder(self) -> Recorder:
        """Return a recorder for a trial; the workload is this process and those of the service."""
        service = self._site.service
        workload = (os.getpid(), *(service.pids() if service else ()))
        recorder = ProcRecorder(
            self._devices(), workload, self._conditions.hz, self._site.private_devices
        )
        if self._trace is None:
            return recorder
        names = {device.number: device.disk for device in self._traced_devices()}
        events = BlockEvents(self._trace.path, names, compact_histogram)
        return CombinedRecorder(recorder, events, workload)

    def _traced_devices(self) -> tuple[BlockDevice, ...]:
        """The devices below the target with their partitions."""
        queues = target_devices.devices_with_queues(self._devices())
        return tuple(devices.with_partitions(queues))

    def _target_paths(self) -> tuple[Path, ...]:
        """The paths of the target, existing or to be made."""
        return self._driver.paths(self._folder, self._scratch)

    def _target_identities(self) -> list[str]:
        """Stable identities of the devices below the target, or of mounts without devices."""
        groups = (
            target_devices.device_identities(path) or self._mount_identities(path)
            for path in self._target_paths()
        )
        return list(dict.fromkeys(identity for identities in groups for identity in identities))

    def _mount_identities(self, path: Path) -> list[str]:
        """Type and source of the mount of a directory that the study compares.

        What the study serves has the source of its request: each HDFS that is started has a port.
        """
        if not self._target.compared:
            return []
        mount = find_mount(path)
        requests = self._target.mount_requests.values()
        served = {request.point: request.source for request in requests if request.is_local}
        return [f"{mount.filesystem} {served.get(path, mount.source)}"]

    def _device_paths(self) -> tuple[Path, ...]:
        """Paths that identify the devices under test, also without a mounted file system."""
        scratch, volume = self._scratch, self._site.volume
        if volume is not None:
            paths = [volume.device.path]
        elif scratch is not None:
            paths = [disk.device.path for disk in scratch.disks]
        else:
            paths = [self._site.directory]
        return (*paths, *self._served_paths(), *self._conditions.directories)

    def _used_paths(self) -> tuple[Path, ...]:
        """Paths whose disks the study uses; data of modelled drives are in memory."""
        paths = () if self._scratch and self._scratch.in_memory else self._target_paths()
        return (*paths, *self._served_paths(), *self._service_dirs())

    def _served_paths(self) -> tuple[Path, ...]:
        """The folder of the data of file systems that the study serves; none otherwise."""
        is_served = any(request.is_local for request in self._target.mount_requests.values())
        return (self._folder,) if is_served else ()

    def _service_dirs(self) -> tuple[Path, ...]:
        """The directories outside the target of a service that the study starts."""
        request = self._conditions.service
        return request.spec.dirs if request else ()

    def _other_places(self) -> tuple[str, ...]:
        """The places outside the target that the study varies or uses."""
        varied = places.resolve_places(
            place for factor in self._conditions.factors for place in factor.on
        )
        directories = (*self._service_dirs(), *self._conditions.directories)
        return tuple(dict.fromkeys((*varied, *map(str, directories))))

    @property
    def _is_remote(self) -> bool:
        """Whether the files of the study are on no known disk of this machine."""
        return bool(self._target.cluster_uri)

    def _devices(self) -> tuple[str, ...]:
        """The devices below the files of the study, from the top."""
        if self._is_remote:
            return ()
        return target_devices.device_names(*self._device_paths(), *self._service_dirs())

    def _devices_under_test(self, request: WorkloadRequest) -> tuple[str, ...]:
        """The devices below the files of the workload, none of them stacked on another."""
        if self._is_remote:
            return ()
        service = self._conditions.service
        is_served = service is not None and catalog.get(request.name).service
        data_dirs = service.spec.data_dirs if service and is_served else ()
        return target_devices.top_device_names(*(data_dirs or self._device_paths()))
