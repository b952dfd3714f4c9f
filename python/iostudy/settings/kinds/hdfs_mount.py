"""Settings of a mount of HDFS: extended attributes of its mount point.

The server of the mount has them (`crates/hdfs-mount`); they end with the mount.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Self

from iostudy.errors import TargetError
from iostudy.host import mounts
from iostudy.host.mounts import Mount
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeSetting, SideEffects
from iostudy.settings.change import Record, SettingKind
from iostudy.settings.definitions.hdfs_mount import DEFINITIONS, HdfsMountDefinition
from iostudy.settings.identity import boot_id

_PREFIX = "user.iostudy."
_SOURCE = "hdfs://"


@dataclass(frozen=True)
class HdfsMountSettings:
    """The settings of one mount; ``number`` and ``source`` identify it."""

    kind: ClassVar[str] = "hdfs-mount-settings"

    boot: str
    point: str
    number: str
    source: str

    @classmethod
    def from_mount(cls, mount: Mount) -> Self:
        """Build from a current mount."""
        return cls(boot_id(), str(mount.point), mount.device, mount.source)

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Restore it from its journal record."""
        return cls(**record)

    def record(self) -> Record:
        """Return the boot and the identity of the mount."""
        return asdict(self)

    @property
    def name(self) -> str:
        """Mount point at the time of the change."""
        return self.point

    @property
    def side_effects(self) -> SideEffects:
        """None."""
        return {}

    def absence_reason(self) -> str | None:
        """Return why the mount is gone, and its settings with it."""
        if self.boot != boot_id():
            return "the host has been rebooted"
        found = mounts.find_mounts_at(Path(self.point))
        mine = (self.number, self.source)
        return None if mine in ((m.device, m.source) for m in found) else "it has been unmounted"

    def affected_resources(self) -> tuple[str, ...]:
        """Return the device number of the mount."""
        return (self.number,)

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Return the attribute of that name; there are no globs of them."""
        return tuple(each.attribute for each in DEFINITIONS if each.attribute == pattern)

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Any order will do."""
        return sorted(attributes)

    def read(self, attribute: str) -> str | None:
        """Return the value; None if the server is gone or does not have it."""
        try:
            return os.getxattr(self.point, f"{_PREFIX}{attribute}").decode()
        except OSError:
            return None

    def write(self, attribute: str, value: str) -> None:
        """Hand the value to the server; OSError if the mount is read-only."""
        os.setxattr(self.point, f"{_PREFIX}{attribute}", value.encode())

    def available_values(self, attribute: str) -> tuple[str, ...]:
        """Return none: all are numbers."""
        return ()

    def location(self, attribute: str) -> str:
        """Return the extended attribute."""
        return f"{_PREFIX}{attribute} of {self.point}"

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        """Suggest a writable mount, or root."""
        if error.errno == errno.EROFS:
            return "mount it with `iostudy mount --writable`, or with the value as its option"
        return "run as root; see the messages of `iostudy mount`"


def bind(definition: HdfsMountDefinition, place: str) -> tuple[AttributeSetting, ...]:
    """Bind the setting to the mount of ``place``; TargetError unless it is a mount of HDFS."""
    try:
        mount = mounts.find_mount(Path(place))
    except OSError as error:
        raise _no_mount(definition, place, error.strerror or str(error)) from error
    owner = HdfsMountSettings.from_mount(mount)
    if not mount.source.startswith(_SOURCE) or owner.read(definition.attribute) is None:
        raise _no_mount(definition, place, f"{mount.filesystem} of {mount.source}")
    return (AttributeSetting(definition, owner, definition.attribute),)


def _no_mount(definition: HdfsMountDefinition, place: str, found: str) -> TargetError:
    return TargetError(
        f"{definition.name} of a mount of HDFS",
        found=found,
        where=place,
        remedy="name the directory of an `iostudy mount hdfs://...` that is running",
    )


KIND = SettingKind(HdfsMountDefinition, bind, attributes.prepare_changes)
