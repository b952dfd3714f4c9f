"""Kind of storage below a mount, by the type and the source of its file system."""

from __future__ import annotations

from enum import StrEnum

NETWORK_FILESYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "9p",
    "lustre",
    "gpfs",
    "beegfs",
    "afs",
    "fuse.sshfs",
)
"""File systems of servers, whatever their source looks like."""
_IN_MEMORY = ("tmpfs", "ramfs")


class StorageKind(StrEnum):
    """What stores the data of a file system."""

    DEVICE = "device"
    MEMORY = "memory"
    NETWORK = "network"
    PROCESS = "FUSE process"
    OTHER = "other"

    @property
    def drops_caches(self) -> bool:
        """Whether dropping the caches of this host drops all of them."""
        return self in (StorageKind.DEVICE, StorageKind.MEMORY)


def names_device(filesystem: str, source: str) -> bool:
    """Return whether the source of a mount is the device that the kernel has opened.

    Every user chooses the source of a FUSE mount (``fsname`` of fusermount3).
    """
    return source.startswith("/dev/") and not _is_fuse(filesystem)


def find_storage_kind(filesystem: str, source: str) -> StorageKind:
    """Return the kind of a mount.

    A source ``HOST:PATH`` or ``//HOST/SHARE`` is a server's, as df(1) decides it (gnulib,
    mountlist.c). The process of another FUSE mount may use the network.
    """
    if filesystem in NETWORK_FILESYSTEMS or ":" in source or source.startswith("//"):
        return StorageKind.NETWORK
    if filesystem in _IN_MEMORY:
        return StorageKind.MEMORY
    if _is_fuse(filesystem):
        return StorageKind.PROCESS
    if names_device(filesystem, source):
        return StorageKind.DEVICE
    return StorageKind.OTHER


def _is_fuse(filesystem: str) -> bool:
    """Return whether a process serves it; ``fuseblk`` is on a device that the kernel has opened."""
    return filesystem == "fuse" or filesystem.startswith("fuse.")
