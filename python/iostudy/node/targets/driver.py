"""Driver of a target: how a node prepares and describes it on this host, for every kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from iostudy import plugins
from iostudy.errors import IostudyError, TargetError
from iostudy.host import stack
from iostudy.line_handler import LineHandler
from iostudy.node.conditions import Permission
from iostudy.node.free_space import FreeSpace
from iostudy.node.level_warnings import find_level_warnings
from iostudy.node.levels import Levels
from iostudy.node.protocol import Node
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings.change import Change
from iostudy.settings.definition import Reach
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.study.targets.target import Target

T = TypeVar("T", bound=Target)
OfferedLevels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class TargetDriver(ABC, Generic[T]):
    """Works on a target. A kind overrides what differs from directories that exist already.

    ``folder`` is the output folder. What raises nothing before a run may still fail during it.
    """

    target: T

    @abstractmethod
    def probe_paths(self) -> tuple[Path, ...]:
        """Return paths whose devices stand for the target; any loop device for one not yet made."""

    @abstractmethod
    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        """Return the free space; for a new disk, its size. TargetError if the target is unusable.

        Nothing changes.
        """

    @abstractmethod
    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        """Return the paths of the target, existing or to be made; ``storage`` are its disks."""

    def prepare(self, folder: Path, permission: Permission) -> ScratchStorage | None:
        """Prepare the disks to make or to format, or none; TargetError if the target is unusable.

        ``permission`` covers the devices to format.
        """
        for path in self.paths(folder, None):
            _refuse_device(path)
            WorkFolder.prepare(path)
        return None

    def prepare_mounts(self, folder: Path, on_progress: LineHandler) -> Iterable[Change]:
        """Yield what mounts for the study; each is applied before the next is prepared.

        TargetError or ClusterError if something cannot be mounted.
        """
        return ()

    def creates(self, factor: Factor, reach: Reach) -> bool:
        """Return whether the run creates the place of a factor: a disk or a mount."""
        return False

    def offered_levels(self, factors: Sequence[Factor]) -> OfferedLevels | None:
        """Return the levels that the host offers by factor; None if they are unknown yet.

        Any loop device shows the levels of one that is not yet made.
        """
        levels = Levels(Transaction(), self.probe_paths())
        try:
            return {factor.name: levels.offered(factor.name, factor.on) for factor in factors}
        except IostudyError:
            return None

    def find_warnings(self, study: Study) -> tuple[str, ...]:
        """Return a sentence for each level that would not do what it says."""
        return find_level_warnings(study, self.probe_paths())

    def open_node(
        self, open_local: Callable[[], AbstractContextManager[Node]]
    ) -> AbstractContextManager[Node]:
        """Open the machine under test; ``open_local`` opens this one."""
        return open_local()


def _refuse_device(place: Path) -> None:
    """Raise TargetError for a block device in place of a directory."""
    if place.is_block_device():
        uses = stack.find_uses(stack.find_devices(place)[0])
        raise TargetError(
            "a directory",
            found="a block device" + (f" ({'; '.join(uses)})" if uses else ""),
            where=str(place),
            remedy="name the directory it is mounted on; or, if all data on it may be destroyed, "
            f"write target: {{scratch: {{device: {place}}}}}",
        )


def find_driver(target: Target) -> TargetDriver[Any]:
    """Return the driver of a target."""
    driver: TargetDriver[Any] = plugins.load(target.driver)(target)
    return driver
