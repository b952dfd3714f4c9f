"""A mount and the file system on it, as owners of what a remount can change."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from fnmatch import filter as matching
from typing import ClassVar

from iostudy.errors import OutOfReachError, SettingError
from iostudy.host.mounts import Mount, mounts_of
from iostudy.host.namespaces import MountNamespace, is_everything_visible, process_with_mount
from iostudy.settings.attributes import SideEffects
from iostudy.settings.change import Record
from iostudy.settings.identity import boot_id
from iostudy.settings.mounting import calls as mount_calls
from iostudy.settings.mounting import options as mount_options
from iostudy.settings.mounting.options import ATIME, ATIMES, NODIRATIME, PER_MOUNT, spelled
from iostudy.settings.mounting.values import devices_below, instance, read_values

_OTHER_BOOT = "the host has been started anew"
_UNMOUNTED = "it has been unmounted"
_OFFERED = {
    ATIME: ATIMES,
    NODIRATIME: ("on", "off"),
    "lazytime": ("on", "off"),
}
"""What every file system can be; of other options only the file system itself knows."""


@dataclass(frozen=True)
class MountFlags:
    """The options of one mount. ``point`` is where it was found, for it can be moved."""

    kind: ClassVar[str] = "mount-flags"
    side_effects: ClassVar[SideEffects] = {}

    point: str
    id: int
    device: str
    filesystem: str
    source: str
    disk: str
    instance: int
    boot: str
    namespace: MountNamespace | None = None

    @classmethod
    def of(cls, mount: Mount) -> MountFlags:
        """Of a mount that is there now."""
        disk = next(iter(devices_below(mount)), "")
        return cls(
            point=str(mount.point),
            id=mount.id,
            device=mount.device,
            filesystem=mount.filesystem,
            source=mount.source,
            disk=disk,
            instance=instance(disk),
            boot=boot_id(),
            namespace=MountNamespace.own(),
        )

    @classmethod
    def from_record(cls, record: Record) -> MountFlags:
        """What the journal has kept; older versions kept no namespace."""
        kept = record.get("namespace")
        return cls(**{**record, "namespace": MountNamespace(**kept) if kept else None})

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    @property
    def name(self) -> str:
        """The mount point."""
        return self.point

    def loss(self) -> str | None:
        """Whether the mount has gone; the kernel gives its number to another then.

        OutOfReachError if it is in another mount namespace, which may still be there.
        """
        if self.boot != boot_id():
            return _OTHER_BOOT
        if instance(self.disk) != self.instance:
            return _UNMOUNTED
        if self.namespace not in (None, MountNamespace.own()):
            return self._loss_elsewhere(self.namespace)
        return None if self._mount() else _UNMOUNTED

    def _loss_elsewhere(self, namespace: MountNamespace) -> str:
        if namespace.is_gone():
            return "its mount namespace has ended"
        raise OutOfReachError(
            f"to restore the options of the mount {self.name}",
            found=f"it is in another mount namespace (mnt:[{namespace.inode}])",
            where=f"{self.point} ({self.filesystem} on {self.source})",
            remedy=_from_inside(namespace.process()),
        )

    def touches(self) -> tuple[str, ...]:
        """The device below, if there is one: its lock keeps studies of all its mounts away."""
        return (self.disk or self.device,)

    def values(self) -> dict[str, str]:
        """All there are; none once it is gone."""
        mount = self._mount()
        return mount_options.mount_values(mount.options) if mount else {}

    def matching(self, pattern: str) -> tuple[str, ...]:
        """All of them can be written."""
        return tuple(matching(PER_MOUNT, pattern))

    def in_order(self, attributes: Iterable[str]) -> list[str]:
        """Any order does."""
        return sorted(attributes)

    def read(self, attribute: str) -> str | None:
        """From mountinfo."""
        return self.values().get(attribute)

    def write(self, attribute: str, value: str) -> None:
        """A remount of this mount alone, with all its other flags as they are."""
        mount = self._mount()
        if mount is None:
            raise OSError(errno.ENOENT, _UNMOUNTED)
        values = mount_options.mount_values(mount.options) | {attribute: value}
        access = {"ro"} & set(mount.options)
        mount_calls.set_flags(mount, access | {spelled(key, each) for key, each in values.items()})

    def check(self, attribute: str, value: str) -> None:
        """Every flag is known, and so is the way back."""

    def offered(self, attribute: str) -> tuple[str, ...]:
        """Its names."""
        return _OFFERED.get(attribute, ())

    def where(self, attribute: str) -> str:
        """The mount point."""
        return self.point

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        """Root, or another mount."""
        if isinstance(error, PermissionError):
            return "run as root, and outside of a container that locks its mounts"
        return "see `findmnt` for what is mounted there"

    def _mount(self) -> Mount | None:
        """The mount as it is now, wherever it has been moved to."""
        own = (self.id, self.filesystem, self.source)
        same = (m for m in mounts_of(self.device) if (m.id, m.filesystem, m.source) == own)
        return next(same, None)


@dataclass(frozen=True)
class FileSystemOptions:
    """The options of a mounted file system, which are those of every mount of it.

    It is the same whichever mount it was found by, so ``point`` and ``source`` tell nothing apart.
    """

    kind: ClassVar[str] = "file-system-options"
    side_effects: ClassVar[SideEffects] = {
        # btrfs_parse_param() in fs/btrfs/super.c: what is compressed must be copied and summed.
        "compress": ("compress-force", "datacow", "datasum"),
        "datacow": ("compress", "compress-force", "datasum"),
        "datasum": ("datacow",),
    }

    point: str = field(compare=False)
    source: str = field(compare=False)
    device: str
    filesystem: str
    disk: str
    instance: int
    boot: str

    @classmethod
    def of(cls, mount: Mount) -> FileSystemOptions:
        """Of a mount that is there now."""
        disk = next(iter(devices_below(mount)), "")
        return cls(
            point=str(mount.point),
            source=mount.source,
            device=mount.device,
            filesystem=mount.filesystem,
            disk=disk,
            instance=instance(disk),
            boot=boot_id(),
        )

    @classmethod
    def from_record(cls, record: Record) -> FileSystemOptions:
        """What the journal has kept."""
        return cls(**record)

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    @property
    def name(self) -> str:
        """The mount point that it was found by."""
        return self.point

    def loss(self) -> str | None:
        """Whether the file system has been unmounted for good.

        OutOfReachError if it may be in use, and is not mounted in this mount namespace.
        """
        if self.boot != boot_id():
            return _OTHER_BOOT
        if instance(self.disk) != self.instance:
            return _UNMOUNTED
        if self._mounts():
            return None
        process = process_with_mount(self.device, self.filesystem, self.source)
        if not self.instance and process is None and is_everything_visible():
            return _UNMOUNTED
        raise OutOfReachError(
            f"to restore the options of the file system of {self.name}",
            found="it is unmounted here, but a process or another mount namespace still uses it",
            where=f"{self.point} ({self.filesystem} on {self.source})",
            remedy=f"mount it again, or {_from_inside(process)}",
        )

    def touches(self) -> tuple[str, ...]:
        """The device below, if there is one: its lock keeps studies of all its mounts away."""
        return (self.disk or self.device,)

    def values(self) -> dict[str, str]:
        """All that are known; none once it is gone."""
        mounts = self._mounts()
        return read_values(mounts[0], self.disk) if mounts else {}

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Those that are known."""
        return tuple(matching(self.values(), pattern))

    def in_order(self, attributes: Iterable[str]) -> list[str]:
        """By the alphabet, which has compress before datacow before datasum.

        Each of these resets what comes after it to what it needs.
        """
        return sorted(attributes)

    def read(self, attribute: str) -> str | None:
        """What the file system shows, or its default."""
        return self.values().get(attribute)

    def write(self, attribute: str, value: str) -> None:
        """A reconfiguration of the file system by any of its mounts."""
        mount_calls.reconfigure(self._reachable(), spelled(attribute, value))

    def check(self, attribute: str, value: str) -> None:
        """SettingError if the file system does not know the option, or shows no way back."""
        wanted = f"to set {attribute} of {self.name} to {value}"
        try:
            mount_calls.check(self._reachable(), spelled(attribute, value))
        except OSError as error:
            raise SettingError(
                wanted,
                found=f"{self.filesystem} does not take it ({error.strerror})",
                where=self.where(attribute),
                remedy=self.remedy(error, attribute, value),
            ) from error
        if self.read(attribute) is None:
            raise SettingError(
                wanted,
                found=f"{self.filesystem} does not show what it is now: there is no way back",
                where=self.where(attribute),
                remedy=f"mount it with an explicit {attribute}, or leave the option out",
            )

    def offered(self, attribute: str) -> tuple[str, ...]:
        """The names of what does not depend on the file system."""
        return _OFFERED.get(attribute, ())

    def where(self, attribute: str) -> str:
        """The mount point and what is mounted there."""
        return f"{self.point} ({self.filesystem} on {self.source})"

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        """Root, a new file system, or another option."""
        if isinstance(error, PermissionError):
            return "run as root, and outside of a container"
        if attribute == "data":
            return "the mode is chosen when a file system is mounted first: see filesystem.options"
        return f"choose what {self.filesystem} takes at a remount, or see dmesg"

    def _mounts(self) -> tuple[Mount, ...]:
        """Every mount of it that is seen here, the one it was found by first.

        They show the same, but for which subvolume of a btrfs is mounted.
        """
        same = [mount for mount in mounts_of(self.device) if self._is_on(mount)]
        return tuple(sorted(same, key=lambda mount: str(mount.point) != self.point))

    def _is_on(self, mount: Mount) -> bool:
        """The number of what has no device is given anew soon, so its source must be the same."""
        same_source = bool(self.instance) or mount.source == self.source
        return mount.filesystem == self.filesystem and same_source

    def _reachable(self) -> Mount:
        for mount in self._mounts():
            if mount_calls.is_reachable(mount):
                return mount
        raise OSError(errno.EBUSY, "every mount of it is hidden by another, or gone")


def _from_inside(process: int | None) -> str:
    """The remedy for what another mount namespace has."""
    file = f"/proc/{process}/ns/mnt" if process else "the file of the mount namespace"
    return (
        f"run `nsenter --mount={file} iostudy restore`, or end what uses it and run `iostudy "
        "restore`; `iostudy restore --accept` leaves it as it is"
    )


Owner = MountFlags | FileSystemOptions
