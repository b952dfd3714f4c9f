"""Check that a directory stays on the mount on which the study found it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from iostudy.host.mounts import find_mount
from iostudy.storage_kind import StorageKind, find_storage_kind


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
