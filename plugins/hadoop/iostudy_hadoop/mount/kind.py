"""Settings of a mount of HDFS: extended attributes of its mount point.

The server of the mount has them (`crates/hdfs-mount`); they end with the mount.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from iostudy.errors import TargetError
from iostudy.host import mounts
from iostudy.host.mounts import Mount
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import SettingKind
from iostudy.settings.identity import boot_id
from iostudy.settings.kinds.host_files import HostAttributes
from iostudy_hadoop.mount.settings import DEFINITIONS, HdfsMountDefinition

_PREFIX = "user.iostudy."
_SOURCE = "hdfs://"


@dataclass(frozen=True)
class HdfsMountSettings(HostAttributes):
    """The settings of one mount; ``number`` and ``source`` identify it."""

    kind: ClassVar[str] = "hdfs-mount-settings"

    point: str
    number: str
    source: str

    @classmethod
    def from_mount(cls, mount: Mount) -> Self:
        """Build from a current mount."""
        return cls(boot_id(), str(mount.point), mount.device, mount.source)

    @property
    def name(self) -> str:
        """Mount point at the time of the change."""
        return self.point

    def absence_reason(self) -> str | None:
        """Return why the mount is gone, and its settings with it."""
        mounted = mounts.find_mounts_at(Path(self.point))
        if (self.number, self.source) in ((m.device, m.source) for m in mounted):
            return super().absence_reason()
        return super().absence_reason() or "it has been unmounted"

    def affected_resources(self) -> tuple[str, ...]:
        """Return the device number of the mount."""
        return (self.number,)

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Return the attribute of that name; there are no globs of them."""
        return tuple(
            definition.attribute for definition in DEFINITIONS if definition.attribute == pattern
        )

    def read(self, attribute: str) -> str | None:
        """Return the value; None if the server is gone or does not have it."""
        try:
            return os.getxattr(self.point, f"{_PREFIX}{attribute}").decode()
        except OSError:
            return None

    def write(self, attribute: str, value: str) -> None:
        """Hand the value to the server; OSError if the mount is read-only."""
        os.setxattr(self.point, f"{_PREFIX}{attribute}", value.encode())

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
