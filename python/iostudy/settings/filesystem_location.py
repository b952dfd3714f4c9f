"""Location of a folder inside its file system, independent of mount points.

Source: FS_IOC_GETFSUUID in include/uapi/linux/fs.h; udev's links below /dev/disk/by-uuid.
"""

from __future__ import annotations

import fcntl
import os
import struct
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from iostudy.errors import OutOfReachError
from iostudy.host.files import ROOT
from iostudy.host.mounts import find_mount, find_mounts_at
from iostudy.safe_path import closing
from iostudy.settings.change import Record
from iostudy.settings.identity import boot_id
from iostudy.storage_kind import StorageKind, find_storage_kind

_IN_MEMORY = ("tmpfs", "ramfs")
"""File systems whose files end with the boot."""
_LOCAL = (StorageKind.DEVICE, StorageKind.MEMORY)


@dataclass(frozen=True)
class FilesystemLocation:
    """A file system, and the path of a folder inside it.

    ``device`` (major:minor) and ``fsid`` (statvfs(3)) identify it during one boot, ``uuid``
    permanently; NFS, FUSE and others have no ``uuid``, and NFS and FUSE a new ``device`` each time
    that they are mounted. ``inside`` is relative to the root of the file
    system, so bind mounts are resolved.
    """

    uuid: str
    fsid: int
    device: str
    filesystem: str
    source: str
    inside: str
    boot: str

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """Locate the path ``folder``, which need not exist.

        OSError if no existing parent is readable.
        """
        real = folder.resolve()
        existing = next(parent for parent in (real, *real.parents) if parent.is_dir())
        mount = find_mount(existing)
        return cls(
            uuid=filesystem_uuid(existing),
            fsid=os.statvfs(existing).f_fsid,
            device=mount.device,
            filesystem=mount.filesystem,
            source=mount.source,
            inside=str(Path(mount.root) / real.relative_to(mount.point)),
            boot=boot_id(),
        )

    @classmethod
    def find(cls, folder: Path) -> Self | None:
        """Locate it; None if the kernel does not show the mount, as in some chroots.

        None also if no existing parent is readable.
        """
        try:
            return cls.from_folder(folder)
        except (OSError, ValueError):
            return None

    @classmethod
    def from_record(cls, record: Record | None) -> Self | None:
        """Rebuild from the journal; None for older versions."""
        return None if record is None else cls(**record)

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    @property
    def has_ended(self) -> bool:
        """Whether it was in memory, and the host has been rebooted."""
        return self.filesystem in _IN_MEMORY and self.boot != boot_id()

    def require_mounted(self, point: Path, wanted: str) -> None:
        """OutOfReachError if commands that name mount point and source would change another one.

        They may have to mount what needs no device, so nothing may be mounted there. Mountinfo
        alone shows what is: a lost server would block.
        """
        if find_storage_kind(self.filesystem, self.source) not in _LOCAL:
            mounts = [(mount.filesystem, mount.source) for mount in find_mounts_at(point)]
            if mounts[-1:] in ([], [(self.filesystem, self.source)]):
                return
        self.require(point, wanted, by_source=True)

    def require(self, folder: Path, wanted: str, *, by_source: bool = False) -> None:
        """OutOfReachError unless the path ``folder`` leads to this location now.

        Call it before a missing folder counts as removed. ``wanted`` is for the error. With
        ``by_source`` the source must have its old name too: another disk may have that now.
        """
        if self.has_ended:
            return
        now = FilesystemLocation.find(folder)
        if now is not None and self._is_same(now) and (self.source == now.source or not by_source):
            return
        name = f"UUID {self.uuid}" if self.uuid else f"device {self.device}"
        where = "mounted there in this mount namespace" if now else "visible from here (chroot?)"
        raise OutOfReachError(
            wanted,
            found=f"its file system ({self.filesystem} on {self.source}, {name}) is not {where}",
            where=str(folder),
            remedy="mount it there, or enter the mount namespace that has it (nsenter), then "
            "`iostudy restore`; if it is gone for good, `iostudy restore --accept` forgets it",
        )

    @property
    def _is_served(self) -> bool:
        """Whether a new mount of the same files has another device number."""
        kind = find_storage_kind(self.filesystem, self.source)
        return kind in (StorageKind.NETWORK, StorageKind.PROCESS)

    def _is_same(self, other: FilesystemLocation) -> bool:
        if (self.filesystem, self.inside) != (other.filesystem, other.inside):
            return False
        if self.uuid or other.uuid:
            return self.uuid == other.uuid
        if self.boot != other.boot or self._is_served:
            return self.source == other.source
        return (self.device, self.fsid) == (other.device, other.fsid)


_GET_UUID = 0x80111500
"""FS_IOC_GETFSUUID (Linux 6.9): a byte with the length, and 16 bytes."""


def filesystem_uuid(directory: Path) -> str:
    """The UUID of the file system of a directory, in udev's form.

    Empty where neither kernel nor udev gives one; OSError if there is no such directory.
    """
    return _from_kernel(directory) or _from_udev(directory.stat().st_dev)


def _from_kernel(directory: Path) -> str:
    """Empty on older kernels, and where the directory cannot be read."""
    try:
        with closing(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as opened:
            length, number = struct.unpack("B16s", fcntl.ioctl(opened, _GET_UUID, bytes(17)))
    except OSError:
        return ""
    return str(uuid.UUID(bytes=number)) if any(number[:length]) else ""


def _from_udev(device: int) -> str:
    """Return udev's UUID of a block device; empty for the anonymous number of a btrfs."""
    for link in (ROOT / "dev/disk/by-uuid").glob("*"):
        with suppress(OSError):  # the device is gone
            if link.stat().st_rdev == device:
                return link.name
    return ""
