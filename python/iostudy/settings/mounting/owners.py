"""Mount flags and file-system options, the two owners of attributes that a remount changes.

A file system shows only options that differ from their defaults. ext4 lists all of them in a
separate file. For others, documented defaults apply; the remaining options are unknown.
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from fnmatch import filter as matching
from typing import Any, ClassVar

from iostudy.errors import OutOfReachError, SettingError, TargetError
from iostudy.host import stack
from iostudy.host.files import ROOT, read_attribute
from iostudy.host.mounts import Mount, find_mounts_of_device
from iostudy.host.namespaces import Namespace, find_process_with_mount, is_everything_visible
from iostudy.settings import mount_options
from iostudy.settings.attributes import SideEffects
from iostudy.settings.change import Record
from iostudy.settings.identity import boot_id, end_of_namespace, namespace_remedy
from iostudy.settings.mount_options import (
    ATIME,
    ATIMES,
    NODIRATIME,
    OFF,
    ON,
    PER_MOUNT,
    format_option,
    parse_values,
)
from iostudy.settings.mounting import calls as mount_calls

_UNMOUNTED = "it has been unmounted"
_OFFERED = {ATIME: ATIMES, NODIRATIME: ("on", "off"), "lazytime": ("on", "off")}
"""The choices that every file system has; only the file system knows its other options."""


@dataclass(frozen=True)
class _RemountOwner(ABC):
    """Common fields and methods of both owners."""

    point: str
    device: str
    filesystem: str
    source: str
    disk: str
    instance: int
    boot: str

    def record(self) -> Record:
        return asdict(self)

    @property
    def name(self) -> str:
        """Mount point at the time of the change."""
        return self.point

    def affected_resources(self) -> tuple[str, ...]:
        """Return the device below, if any: its lock excludes studies of all its mounts."""
        return (self.disk or self.device,)

    @abstractmethod
    def values(self) -> dict[str, str]:
        """Return all known values; none after an unmount."""

    def read(self, attribute: str) -> str | None:
        return self.values().get(attribute)

    def available_values(self, attribute: str) -> tuple[str, ...]:
        """Return the names that the option can have on every file system."""
        return _OFFERED.get(attribute, ())

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Sort by the alphabet, which has compress before datacow before datasum.

        On btrfs each of these resets the later ones. Flags of a mount need no order.
        """
        return sorted(attributes)

    def _end_of_instance(self) -> str | None:
        """Return the reason if the boot or the superblock has changed."""
        if self.boot != boot_id():
            return "the host has been rebooted"
        return _UNMOUNTED if read_instance(self.disk) != self.instance else None

    @property
    def _description(self) -> str:
        return f"{self.point} ({self.filesystem} on {self.source})"


def _identify(mount: Mount) -> dict[str, Any]:
    """Return the common attributes of both owners, from a current mount."""
    disk = find_lower_device(mount)
    return {
        "point": str(mount.point),
        "device": mount.device,
        "filesystem": mount.filesystem,
        "source": mount.source,
        "disk": disk,
        "instance": read_instance(disk),
        "boot": boot_id(),
    }


@dataclass(frozen=True)
class MountFlags(_RemountOwner):
    """The options of one mount. ``point`` is its original mount point; it may be moved."""

    kind: ClassVar[str] = "mount-flags"
    side_effects: ClassVar[SideEffects] = {}

    id: int
    namespace: Namespace | None = None

    @classmethod
    def from_mount(cls, mount: Mount) -> MountFlags:
        """Build from a current mount."""
        return cls(id=mount.id, namespace=Namespace.current(), **_identify(mount))

    @classmethod
    def from_record(cls, record: Record) -> MountFlags:
        """Rebuild from the journal; older versions recorded no namespace."""
        kept = record.get("namespace")
        return cls(**{**record, "namespace": Namespace(**kept) if kept else None})

    def absence_reason(self) -> str | None:
        """Return why the mount is gone; the kernel reuses its number then.

        OutOfReachError if it is in another mount namespace, which may still exist.
        """
        if reason := self._end_of_instance():
            return reason
        wanted = f"to restore the options of the mount {self.name}"
        if reason := end_of_namespace(self.namespace, wanted, self._description):
            return reason
        return None if self._mount() else _UNMOUNTED

    def values(self) -> dict[str, str]:
        mount = self._mount()
        return mount_options.mount_values(mount.options) if mount else {}

    def matching(self, pattern: str) -> tuple[str, ...]:
        return tuple(matching(PER_MOUNT, pattern))

    def write(self, attribute: str, value: str) -> None:
        """Remount this mount alone, with all its other flags unchanged."""
        mount = self._mount()
        if mount is None:
            raise OSError(errno.ENOENT, _UNMOUNTED)
        values = mount_options.mount_values(mount.options) | {attribute: value}
        access = {"ro"} & set(mount.options)
        flags = {format_option(key, flag) for key, flag in values.items()}
        mount_calls.set_flags(mount, access | flags)

    def check(self, attribute: str, value: str) -> None:
        """Accept every flag: all of them are known and can be restored."""

    def location(self, attribute: str) -> str:
        return self.point

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        if isinstance(error, PermissionError):
            return "run as root, and outside of a container that locks its mounts"
        return "see `findmnt` for what is mounted there"

    def _mount(self) -> Mount | None:
        """Find the mount, also after it has been moved."""
        identity = (self.id, self.filesystem, self.source)
        mounts = find_mounts_of_device(self.device)
        return next((m for m in mounts if (m.id, m.filesystem, m.source) == identity), None)


@dataclass(frozen=True)
class FileSystemOptions(_RemountOwner):
    """The options of a mounted file system, shared by all its mounts.

    It is the same file system through any mount, so ``point`` and ``source`` do not compare.
    """

    kind: ClassVar[str] = "file-system-options"
    side_effects: ClassVar[SideEffects] = {
        # btrfs_parse_param() in fs/btrfs/super.c: compression requires copy on write and checksums.
        "compress": ("compress-force", "datacow", "datasum"),
        "datacow": ("compress", "compress-force", "datasum"),
        "datasum": ("datacow",),
    }

    point: str = field(compare=False)
    source: str = field(compare=False)

    @classmethod
    def from_mount(cls, mount: Mount) -> FileSystemOptions:
        """Build from a current mount."""
        return cls(**_identify(mount))

    @classmethod
    def from_record(cls, record: Record) -> FileSystemOptions:
        return cls(**record)

    def absence_reason(self) -> str | None:
        """Return why the file system is unmounted everywhere; None while it is mounted.

        OutOfReachError if it may be in use, but is not mounted in this mount namespace.
        """
        if reason := self._end_of_instance():
            return reason
        if self._mounts():
            return None
        process = find_process_with_mount(self.device, self.filesystem, self.source)
        if not self.instance and process is None and is_everything_visible():
            return _UNMOUNTED
        raise OutOfReachError(
            f"to restore the options of the file system of {self.name}",
            found="it is unmounted here, but a process or another mount namespace still uses it",
            where=self._description,
            remedy=f"mount it again, or {namespace_remedy(process)}",
        )

    def values(self) -> dict[str, str]:
        mounts = self._mounts()
        if not mounts:
            return {}
        file = ROOT / "proc/fs/ext4" / self.disk / "options"
        listed = read_attribute(file) if self.disk else None
        documented = _COMMON_DEFAULTS | dict(_DEFAULTS.get(mounts[0].filesystem, {}))
        shown = parse_values(mounts[0].super_options)
        return documented | parse_values((listed or "").split()) | shown

    def matching(self, pattern: str) -> tuple[str, ...]:
        return tuple(matching(self.values(), pattern))

    def write(self, attribute: str, value: str) -> None:
        """Reconfigure the file system through any of its mounts."""
        mount_calls.reconfigure(self._reachable(), format_option(attribute, value))

    def check(self, attribute: str, value: str) -> None:
        """SettingError if the file system does not know the option, or does not show its value."""
        wanted = f"to set {attribute} of {self.name} to {value}"
        try:
            mount_calls.check(self._reachable(), format_option(attribute, value))
        except OSError as error:
            raise SettingError(
                wanted,
                found=f"{self.filesystem} does not accept it ({error.strerror})",
                where=self.location(attribute),
                remedy=self.remedy(error, attribute, value),
            ) from error
        if self.read(attribute) is None:
            raise SettingError(
                wanted,
                found=f"{self.filesystem} does not show the current value, so iostudy could not "
                "restore it",
                where=self.location(attribute),
                remedy=f"mount it with an explicit {attribute}, or leave the option out",
            )

    def location(self, attribute: str) -> str:
        return self._description

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        if isinstance(error, PermissionError):
            return "run as root, and outside of a container"
        if attribute == "data":
            return "only the first mount of a file system sets the mode: see filesystem.options"
        return f"choose an option that {self.filesystem} accepts at a remount, or see dmesg"

    def _mounts(self) -> tuple[Mount, ...]:
        """List the mounts in this namespace, the original mount point first.

        They show the same options, except for the mounted subvolume of a btrfs.
        """
        same = [mount for mount in find_mounts_of_device(self.device) if self._is_on(mount)]
        return tuple(sorted(same, key=lambda mount: str(mount.point) != self.point))

    def _is_on(self, mount: Mount) -> bool:
        """Compare the source too: the kernel reuses the numbers of anonymous devices."""
        same_source = bool(self.instance) or mount.source == self.source
        return mount.filesystem == self.filesystem and same_source

    def _reachable(self) -> Mount:
        for mount in self._mounts():
            if mount_calls.is_reachable(mount):
                return mount
        raise OSError(errno.EBUSY, "another mount hides it, or it is unmounted")


Owner = MountFlags | FileSystemOptions


_COMMON_DEFAULTS = {"sync": OFF, "lazytime": OFF}
"""Shown where they are set: fs/proc_namespace.c."""

_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    # ext4(5); for kernels that have no /proc/fs/ext4/DEVICE/options
    "ext4": {"commit": "5", "barrier": ON, "discard": OFF},
    "ext3": {"commit": "5"},  # ext3(5); whether with barriers, no two kernels agree
    "xfs": {"discard": OFF},  # xfs(5)
    "btrfs": {  # btrfs(5), "BTRFS SPECIFIC MOUNT OPTIONS"
        "commit": "30",
        "barrier": ON,
        "discard": OFF,
        "acl": ON,
        "autodefrag": OFF,
        "compress": "no",
        "datacow": ON,
        "datasum": ON,
        "flushoncommit": OFF,
        "metadata_ratio": "0",
        "treelog": ON,
    },
}


def find_lower_device(mount: Mount) -> str:
    """Return the kernel name of the first device below; empty for NFS, tmpfs or overlay."""
    try:
        return stack.find_devices(mount.point)[0].name
    except TargetError:
        return ""


def read_instance(disk: str) -> int:
    """Return an identifier of the mounted superblock of a disk.

    It is the inode of its folder below /sys/fs, which the kernel creates at the first mount and
    removes at the end of the last mount in any namespace. 0 if it has no such folder.
    """
    if not disk:
        return 0
    folders = (ROOT / "sys/fs").glob(f"*/{disk}")
    members = (ROOT / "sys/fs/btrfs").glob(f"*/devices/{disk}")
    candidates = [*folders, *(member.parent.parent for member in members)]
    try:
        return candidates[0].stat().st_ino if candidates else 0
    except FileNotFoundError:  # unmounted in between
        return 0
