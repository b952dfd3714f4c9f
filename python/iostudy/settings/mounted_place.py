"""A folder as a place inside a file system, whatever mount leads there."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from iostudy.errors import OutOfReachError
from iostudy.host.filesystem_uuid import filesystem_uuid
from iostudy.host.mounts import Mount, mount_holding
from iostudy.settings.change import Record
from iostudy.settings.identity import boot_id

_IN_MEMORY = ("tmpfs", "ramfs")
"""File systems whose files end with the boot."""


@dataclass(frozen=True)
class MountedPlace:
    """A file system, and the path of a folder inside it.

    ``device`` (major:minor) and ``fsid`` (statvfs(3)) hold for one boot, ``uuid`` for ever; it is
    empty where the file system has none, as NFS. ``inside`` counts from the root of the file
    system, so that a bind mount leads to the place that it shows.
    """

    uuid: str
    fsid: int
    device: str
    filesystem: str
    source: str
    inside: str
    boot: str

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The place that the path ``folder`` leads to, which need not exist.

        OSError if no existing folder above it can be read.
        """
        real = folder.resolve()
        existing = next(each for each in (real, *real.parents) if each.is_dir())
        mount = mount_holding(existing)
        return cls(
            uuid=filesystem_uuid(existing),
            fsid=os.statvfs(existing).f_fsid,
            device=mount.device,
            filesystem=mount.filesystem,
            source=mount.source,
            inside=_inside(mount, real),
            boot=boot_id(),
        )

    @classmethod
    def found(cls, folder: Path) -> Self | None:
        """The same; None where the kernel does not show the mount, as in some chroots."""
        try:
            return cls.of(folder)
        except (OSError, ValueError):
            return None

    @classmethod
    def from_record(cls, record: Record | None) -> Self | None:
        """What the journal has kept; None for a journal of a version that kept nothing."""
        return None if record is None else cls(**record)

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    def require(self, folder: Path, wanted: str) -> None:
        """OutOfReachError unless the path ``folder`` leads to this place now.

        To be asked before a missing folder counts as removed. ``wanted`` is for the error.
        """
        if self._is_gone() or self._is_same(MountedPlace.of(folder)):
            return
        name = f"UUID {self.uuid}" if self.uuid else f"device {self.device}"
        raise OutOfReachError(
            wanted,
            found=f"its file system ({self.filesystem} on {self.source}, {name}) is not mounted "
            "there in this mount namespace",
            where=str(folder),
            remedy="mount it there, or enter the mount namespace that has it (nsenter), then "
            "`iostudy restore`; if it is gone for good, `iostudy restore --accept` forgets it",
        )

    def _is_gone(self) -> bool:
        return self.filesystem in _IN_MEMORY and self.boot != boot_id()

    def _is_same(self, other: MountedPlace) -> bool:
        if (self.filesystem, self.inside) != (other.filesystem, other.inside):
            return False
        if self.uuid or other.uuid:
            return self.uuid == other.uuid
        if self.boot != other.boot:
            return self.source == other.source
        return (self.device, self.fsid) == (other.device, other.fsid)


def _inside(mount: Mount, path: Path) -> str:
    return str(Path(mount.root) / path.relative_to(mount.point))
