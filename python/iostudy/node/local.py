"""The machine that iostudy runs on, as a node."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, assert_never

from iostudy.errors import IostudyError, SettingError, TargetError
from iostudy.host import stack, usage
from iostudy.host.inventory import inventory
from iostudy.node.levels import locked
from iostudy.node.local_block import LocalBlock
from iostudy.node.room import free_bytes, require_room
from iostudy.node.site import Ground, Site
from iostudy.settings import places
from iostudy.settings.identity import DiskIdentity
from iostudy.settings.locks import lock_directory
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.model import (
    Configuration,
    DirectoryTarget,
    Factor,
    HdfsTarget,
    LoopbackTarget,
    ScratchTarget,
    Target,
    WorkloadRequest,
    describe_target,
)
from iostudy.study.plan import whole_plots
from iostudy.study.requests import check_workloads, space_bytes
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.workloads.definition import Tick, go_on

LIBRARIES = ("numpy", "scipy", "polars", "pydantic")


class LocalNode:
    """The local machine with one target, for as long as the context is open.

    Entering locks output folder and devices and makes the scratch disk; leaving puts back
    everything, also after an error. ``folder`` is the output folder; it must exist. ``factors`` are
    what varies, on the target or elsewhere.
    """

    def __init__(
        self,
        target: Target,
        folder: Path,
        factors: Sequence[Factor] = (),
        tick: Tick = go_on,
    ) -> None:
        self._target = target
        self._folder = folder
        self._factors = factors
        self._tick = tick
        self._held = ExitStack()
        self._notes: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        ground = self._ground = self._prepared_ground()
        with ExitStack() as held:
            held.enter_context(lock_directory(self._folder))
            held.enter_context(locked(self._place(), self._factors))
            transaction = held.enter_context(Transaction())
            if ground is not None:
                transaction.perform(ground.disk)
                self._notes = ground.disk.notes()
            parent = ground.disk.mount_point if ground else self._place()
            self._site = Site(transaction, parent, ground)
            held.callback(self._site.close)
            self._held = held.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._held.__exit__(kind, error, traceback)

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
            except SettingError as error:
                refused |= dict.fromkeys((each.label for each in plot), error)
                continue
            self._require_room(requests, plot)
            refused |= self._refused(plot)
        return refused

    def _begin(self, configuration: Configuration) -> None:
        if configuration.whole_plot:
            self._site.renew(configuration)

    def _require_room(
        self, requests: Sequence[WorkloadRequest], plot: Sequence[Configuration]
    ) -> None:
        target = describe_target(self._target, self._factors)
        where = ", ".join(filter(None, (target, plot[0].whole_plot)))
        needed_bytes = max(space_bytes(requests, plot))
        require_room(needed_bytes, free_bytes(self._site.directory), where)

    def _refused(self, plot: Sequence[Configuration]) -> dict[str, IostudyError]:
        """Those of the plot whose settings are not there, or are not taken."""
        refused: dict[str, IostudyError] = {}
        for configuration in plot:
            try:
                with self._site.levels.applied(configuration):
                    pass
            except (SettingError, TargetError) as error:
                refused[configuration.label] = error
        return refused

    def circumstances(self) -> Mapping[str, Any]:
        """Host, versions, and the target with the devices below it."""
        return {
            "host": dict(inventory([self._site.directory])),
            "versions": {
                "iostudy": version("iostudy"),
                "python": platform.python_version(),
                **{name: version(name) for name in LIBRARIES},
            },
            "target": {
                "description": describe_target(self._target, self._factors),
                "devices": list(self._devices()),
                "identity": _identity(self._place()),
                "on": {place: _identity(place) for place in self._elsewhere()},
                "notes": list(self._notes),
            },
        }

    @contextmanager
    def block(self, request: WorkloadRequest, seed: int) -> Iterator[LocalBlock]:
        """A session in the work folder, which is empty before and after."""
        devices = self._devices()
        session = LocalBlock(
            request=request,
            site=self._site,
            seed=seed,
            device=stack.top_devices(self._base())[0].name if devices else "",
            make_recorder=partial(ProcRecorder, devices),
            tick=self._tick,
        )
        try:
            yield session
        finally:
            session.clean()

    def _place(self) -> Path:
        """Where the target is, or will be made."""
        match self._target:
            case LoopbackTarget() | DirectoryTarget(None) | HdfsTarget():
                return self._folder
            case ScratchTarget(device):
                return device
            case DirectoryTarget(Path() as path):
                return path
            case _:
                raise AssertionError(self._target)

    def _base(self) -> Path:
        """What the devices under test are found by, also while no file system is mounted."""
        return self._ground.disk.device.path if self._ground else self._site.directory

    def _prepared_ground(self) -> Ground | None:
        """The disk that is to be made, or none; TargetError where the target cannot be used."""
        match self._target:
            case LoopbackTarget(size_bytes, filesystem):
                disk = LoopbackDisk.prepare(self._folder, size_bytes)
                return Ground(disk, Filesystem(filesystem))
            case ScratchTarget(device, filesystem):
                scratch = ScratchDevice.prepare(device, self._folder)
                return Ground(scratch, Filesystem(filesystem))
            case DirectoryTarget() | HdfsTarget():
                _refuse_device(self._place())
                WorkFolder.prepare(self._place())
                return None
            case unreachable:
                assert_never(unreachable)

    def _elsewhere(self) -> tuple[str, ...]:
        """The places beside the target on which a factor varies."""
        return places.resolved(place for factor in self._factors for place in factor.on)

    def _devices(self) -> tuple[str, ...]:
        """The devices below the target, from the top; none for a target in memory or far away."""
        try:
            return tuple(device.name for device in stack.whole_stack(self._base()))
        except TargetError:
            return ()


def _identity(place: str | Path) -> list[str]:
    """The devices that a place is on, or is made on, whatever they are named today."""
    try:
        below = stack.whole_stack(place)
    except TargetError:
        return []
    return [DiskIdentity.of(device).stable() for device in below]


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
