"""Work folder of trials on the target, with an optional new file system and service.

The data of a service that the study starts are on this file system and are removed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from iostudy.account import Account
from iostudy.host.mounts import find_mount
from iostudy.line_handler import LineHandler, ignore_line
from iostudy.node.conditions import Callbacks, Conditions
from iostudy.node.levels import Levels
from iostudy.node.service import Service
from iostudy.node.targets.storage import ScratchStorage
from iostudy.node.volume_sync import wait_for_sync
from iostudy.settings.change import Change
from iostudy.settings.scratch.disk import FindDiskState, ScratchDisk
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.storage_kind import StorageKind, find_storage_kind
from iostudy.study.combinations import Configuration


class Site:
    """A work folder and its settings; ``scratch`` is None in the user's own directory.

    ``disks`` are the mount points of the additional disks by name. ``account`` is the user as whom
    root works in the directory. `start_service` starts the service of the conditions. All changes
    go through the transaction, which undoes them at its end at the latest.
    """

    def __init__(
        self,
        transaction: Transaction,
        parent: Path,
        scratch: ScratchStorage | None,
        conditions: Conditions,
        callbacks: Callbacks,
        account: Account | None = None,
    ) -> None:
        self._transaction = transaction
        self._parent = parent
        self._scratch = scratch
        self._service_request = conditions.service
        self.tick = callbacks.tick
        self.on_progress = callbacks.on_progress
        self._constant = conditions.limit.settings
        self._directories = conditions.target.compared
        self.account = account
        self._mounts = {path: ExpectedMount.find(path) for path in self._directories.values()}
        self.folders: dict[Path, Path]
        self._folder_mounts: dict[Path, ExpectedMount]
        self._filesystem: NewFilesystem | None = None
        self.volume: Volume | None = None
        self.service: Service | None = None
        self.directory: Path
        self._varied = False
        self._resources = ExitStack()
        self.disks: Mapping[str, Path] = self._make_additional_file_systems()
        self._begin({}, parent)

    def begin_plot(self, configuration: Configuration) -> None:
        """Begin a whole plot: on a new file system, or in the configuration's directory.

        The folder is removed, and so is the service, until `start_service`. SettingError if the
        file system cannot be made as requested.
        """
        self._resources.close()
        self._varied = True
        parent = self._directories.get(configuration.directory, self._parent)
        self._begin(configuration.settings, parent)

    @property
    def storage(self) -> StorageKind | None:
        """The kind of storage of the current directory; None unless the study compares several."""
        return self._mount.storage if self._mount else None

    @property
    def private_devices(self) -> tuple[str, ...]:
        """The devices that the study made, which no other process uses."""
        made = (disk.device.name for disk in self.scratch_disks if disk.is_private)
        return (*made, *([self.volume.device.name] if self.volume is not None else []))

    @property
    def scratch_disks(self) -> tuple[ScratchDisk, ...]:
        """The disks below the file systems of the study."""
        return self._scratch.disks if self._scratch is not None else ()

    @property
    def lacks_service(self) -> bool:
        """Whether the study needs a service that is not running."""
        return self._service_request is not None and self.service is None

    def start_service(self, on_progress: LineHandler = ignore_line) -> None:
        """Start the service that the study needs; ClusterError if that fails."""
        assert self._service_request is not None, "no service is needed"
        change = self._service_request.make(self.directory, on_progress)
        self.apply_to_plot(change)
        self.service = self._service_request.find_service(change)

    def apply_to_plot(self, change: Change) -> None:
        """Apply a change until the end of the whole plot."""
        self._resources.enter_context(self._transaction.apply_temporarily(change))

    def make_folders(self, directories: Iterable[Path]) -> None:
        """Make a folder in each directory outside of the target, for the whole plot."""
        for directory in directories:
            if directory not in self.folders:
                folder = WorkFolder.prepare(directory, account=self.account)
                self.apply_to_plot(folder)
                self.folders[directory] = folder.path
                self._folder_mounts[folder.path] = ExpectedMount.find(directory)

    def read_back(self) -> Mapping[str, str]:
        """Read back the file system of a configuration; nothing before `reformat`.

        SettingError if it differs from the requested one.
        """
        if self._filesystem is None or not self._varied:
            return {}
        return {**(self.volume.read_back() if self.volume else {}), **self._filesystem.read_back()}

    @contextmanager
    def watch_faults(self) -> Iterator[FindFaults]:
        """Watch the storage; the result says why what ran since then does not count.

        Reasons are resyncs and faults of the volume, or another mount.
        """
        expected = dict(self._folder_mounts)
        if self._expected_mount is not None:
            expected[self.directory] = self._expected_mount
        with ExitStack() as watch:
            find_faults: FindFaults = tuple
            if self.volume is not None:
                find_faults = watch.enter_context(self.volume.watch())
            yield lambda: (
                *find_faults(),
                *(fault for path, mount in expected.items() for fault in mount.find_faults(path)),
            )

    def close(self) -> None:
        """Remove the folder and its file system."""
        self._resources.close()

    def _begin(self, settings: Mapping[str, str], parent: Path) -> None:
        self.service = None
        self.folders, self._folder_mounts = {}, {}
        self._mount = self._mounts.get(parent)
        # An owner of the directory could lead it elsewhere.
        self._expected_mount = self._mount
        if self.account is not None and self._expected_mount is None:
            self._expected_mount = ExpectedMount.find(parent)
        if self._scratch is not None:
            self._make_file_system(self._scratch, settings)
        folder = WorkFolder.prepare(
            parent, disposable=self._scratch is not None, account=self.account
        )
        if self._scratch is None:
            self.apply_to_plot(folder)
        else:
            # Removed with the file system, also if that is read-only.
            self._transaction.apply(folder)
        self.directory = folder.path
        places = (folder.path, *self.disks.values())
        self.levels = Levels(self._transaction, places, self._constant)

    def _make_file_system(self, scratch: ScratchStorage, settings: Mapping[str, str]) -> None:
        """Make the volume, if there is one, and a file system with these levels."""
        wanted = scratch.filesystem.with_settings(settings)
        disk: ScratchDisk | Volume = scratch.disk
        if scratch.volume is not None:
            disk = self.volume = scratch.volume.prepare(settings)
            self.apply_to_plot(disk)
            wait_for_sync(disk, self.tick, self.on_progress)
        self._filesystem = NewFilesystem.prepare(disk, wanted)
        self.apply_to_plot(self._filesystem)

    def _make_additional_file_systems(self) -> dict[str, Path]:
        """Make a file system on each additional disk; return the mount points by name."""
        storages = self._scratch.additional if self._scratch is not None else {}
        for storage in storages.values():
            self._transaction.apply(NewFilesystem.prepare(storage.disk, storage.filesystem))
        return {name: storage.disk.mount_point for name, storage in storages.items()}


@dataclass(frozen=True)
class ExpectedMount:
    """Type, source and folder of a mounted file system.

    Its options are not compared, because a study may vary them.
    """

    filesystem: str
    source: str
    root: str

    @classmethod
    def find(cls, directory: Path) -> Self:
        """Return that of a directory; OSError for a missing one."""
        mount = find_mount(directory)
        return cls(mount.filesystem, mount.source, mount.root)

    @property
    def storage(self) -> StorageKind:
        """What stores its data."""
        return find_storage_kind(self.filesystem, self.source)

    def find_faults(self, directory: Path) -> tuple[str, ...]:
        """Return why a trial in the directory does not count: it is on another mount now."""
        try:
            now = ExpectedMount.find(directory)
        except OSError as error:
            return (f"the mount of {directory} is gone: {error.strerror}",)
        if now == self:
            return ()
        expected = f"{self.filesystem} of {self.source}"
        return (f"{directory} is on {now.filesystem} of {now.source}, no longer on {expected}",)


FindFaults = Callable[[], tuple[str, ...]]
"""Returns what happened to the storage since the watch began."""


def read_disk_states(
    watches: Iterable[FindDiskState],
) -> tuple[dict[str, Mapping[str, float]], tuple[str, ...]]:
    """Return figures by device, and reasons why what ran since the watches began does not count."""
    states = [find() for find in watches]
    figures = {state.device: state.figures for state in states if state.figures}
    return figures, tuple(f"{s.device}: {s.invalid}" for s in states if s.invalid)
