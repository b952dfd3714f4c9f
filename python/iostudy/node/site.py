"""Where trials work: a folder on the target, on a file system that can be made anew."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from iostudy.node.levels import Levels
from iostudy.settings.scratch.disk import ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.model import Configuration


@dataclass(frozen=True)
class Ground:
    """A disk to make file systems on, and what a configuration leaves out of them."""

    disk: ScratchDisk
    filesystem: Filesystem


class Site:
    """A work folder and the settings below it; ``ground`` is None on the user's own directory.

    Everything is done through the transaction, and is undone at its end at the latest.
    """

    def __init__(self, transaction: Transaction, parent: Path, ground: Ground | None) -> None:
        self._transaction = transaction
        self._parent = parent
        self._ground = ground
        self._filesystem: NewFilesystem | None = None
        self._varied = False
        self._held = ExitStack()
        self._begin({})

    def renew(self, configuration: Configuration) -> None:
        """Make a new file system with the configuration's levels, and work on that.

        All that was in the folder is gone. SettingError where it cannot be made as wanted.
        """
        self._held.close()
        self._varied = True
        self._begin(configuration.settings)

    def read_back(self) -> Mapping[str, str]:
        """What the file system is that was made for a configuration; nothing before `renew`.

        SettingError if that is not what was wanted.
        """
        return self._filesystem.read_back() if self._filesystem and self._varied else {}

    def close(self) -> None:
        """Leave the folder, and the file system that was made for it."""
        self._held.close()

    def _begin(self, settings: Mapping[str, str]) -> None:
        if self._ground is not None:
            wanted = self._ground.filesystem.with_settings(settings)
            self._filesystem = NewFilesystem.prepare(self._ground.disk, wanted)
            self._held.enter_context(self._transaction.applied(self._filesystem))
        folder = WorkFolder.prepare(self._parent)
        self._held.enter_context(self._transaction.applied(folder))
        self.directory = folder.path
        self.levels = Levels(self._transaction, folder.path)
