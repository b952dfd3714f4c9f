"""Where trials work: a folder on the target, on a file system that can be made anew.

A study's Hadoop cluster belongs to it: its data lie there, and are gone with what they lie on.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.hadoop.command import Tell, nobody
from iostudy.hadoop.protocol import Cluster
from iostudy.node.clusters import ClusterRequest
from iostudy.node.levels import Levels
from iostudy.settings.scratch.disk import ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Configuration


@dataclass(frozen=True)
class Ground:
    """A disk to make file systems on, and what a configuration leaves out of them.

    ``beside`` are further ones by their names, whose file systems are made once and do not vary.
    """

    disk: ScratchDisk
    filesystem: Filesystem
    beside: Mapping[str, Ground] = field(default_factory=dict)

    @property
    def disks(self) -> tuple[ScratchDisk, ...]:
        """Its own, and those beside."""
        return (self.disk, *(each.disk for each in self.beside.values()))


class Site:
    """A work folder and the settings below it; ``ground`` is None on the user's own directory.

    ``order`` is the cluster that the study needs, if it does: it is there from `start_cluster` on.
    ``disks`` are the roots of those that are made beside the one of the folder, by their names.
    Everything is done through the transaction, and is undone at its end at the latest.
    """

    def __init__(
        self,
        transaction: Transaction,
        parent: Path,
        ground: Ground | None,
        order: ClusterRequest | None = None,
    ) -> None:
        self._transaction = transaction
        self._parent = parent
        self._ground = ground
        self._order = order
        self._filesystem: NewFilesystem | None = None
        self.cluster: Cluster | None = None
        self.directory: Path
        self._varied = False
        self._held = ExitStack()
        self.disks: Mapping[str, Path] = self._made_beside()
        self._begin({})

    def renew(self, configuration: Configuration) -> None:
        """Make a new file system with the configuration's levels, and work on that.

        All that was in the folder is gone, and so is the cluster, until `start_cluster`.
        SettingError where it cannot be made as wanted.
        """
        self._held.close()
        self._varied = True
        self._begin(configuration.settings)

    @property
    def lacks_cluster(self) -> bool:
        """Whether the study needs a cluster, and none has been started here yet."""
        return self._order is not None and self.cluster is None

    def start_cluster(self, tell: Tell = nobody) -> None:
        """Start the cluster that the study needs; ClusterError where that cannot be."""
        assert self._order is not None, "no cluster is needed"
        change = self._order.make(self.directory, tell)
        self._held.enter_context(self._transaction.applied(change))
        self.cluster = change.cluster

    def read_back(self) -> Mapping[str, str]:
        """What the file system is that was made for a configuration; nothing before `renew`.

        SettingError if that is not what was wanted.
        """
        return self._filesystem.read_back() if self._filesystem and self._varied else {}

    def close(self) -> None:
        """Leave the folder, and the file system that was made for it."""
        self._held.close()

    def _begin(self, settings: Mapping[str, str]) -> None:
        self.cluster = None
        if self._ground is not None:
            wanted = self._ground.filesystem.with_settings(settings)
            self._filesystem = NewFilesystem.prepare(self._ground.disk, wanted)
            self._held.enter_context(self._transaction.applied(self._filesystem))
        folder = WorkFolder.prepare(self._parent, disposable=self._ground is not None)
        # Undone with the file system: where that is read only, the folder goes with it.
        self._transaction.perform(folder)
        self.directory = folder.path
        self.levels = Levels(self._transaction, (folder.path, *self.disks.values()))

    def _made_beside(self) -> dict[str, Path]:
        """A file system on each disk beside the target's own: the root of each, by its name."""
        made = self._ground.beside if self._ground is not None else {}
        for ground in made.values():
            self._transaction.perform(NewFilesystem.prepare(ground.disk, ground.filesystem))
        return {name: ground.disk.mount_point for name, ground in made.items()}
