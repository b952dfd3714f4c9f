"""Read-only properties of existing file systems, which studies vary on scratch disks.

A change takes a new file system, which destroys what is on the disk: no change exists here,
see `iostudy.settings.scratch.new_filesystem`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import SettingError, TargetError
from iostudy.host import mounts, stack
from iostudy.host.mounts import Mount
from iostudy.settings import commands
from iostudy.settings.change import Change, SettingKind
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE, FilesystemSettingDefinition
from iostudy.settings.scratch import new_filesystem
from iostudy.settings.scratch.filesystem import FILESYSTEMS, mkfs_program


@dataclass(frozen=True)
class FilesystemSetting:
    """A property of the file system on a mount."""

    definition: FilesystemSettingDefinition
    mount: Mount

    @property
    def label(self) -> str:
        return f"{self.definition.name}@{self.mount.point}"

    def read(self) -> str:
        """Read the value; SettingError if this file system has none, or is unreadable."""
        condition = self.definition.condition
        if condition is not None and not condition.holds(self.mount.filesystem):
            raise self._unreadable(f"it is there only while {condition}", "leave it out here")
        try:
            return new_filesystem.PROPERTIES[self.definition.name](self.mount)
        except (OSError, ValueError) as error:
            fault = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise self._unreadable(fault, "run as root, and see dmesg") from error

    def available_values(self) -> tuple[str, ...]:
        choices = self.definition.choices
        if self.definition is not FILESYSTEM_TYPE:
            return choices
        return tuple(name for name in FILESYSTEMS if commands.is_installed(mkfs_program(name)))

    def _unreadable(self, found: str, remedy: str) -> SettingError:
        return SettingError(
            f"to read {self.label}",
            found=found,
            where=f"{self.mount.filesystem} of {self.mount.source}",
            remedy=remedy,
        )


def bind(definition: FilesystemSettingDefinition, place: str) -> tuple[FilesystemSetting, ...]:
    """Return the setting of the file system of ``place``, or of the one mounted from it."""
    return (FilesystemSetting(definition, _mount(place)),)


def changes(wanted: Mapping[FilesystemSetting, str]) -> tuple[Change, ...]:
    """Return no change; SettingError if one is requested."""
    if not wanted:
        return ()
    raise SettingError(
        f"to change {', '.join(setting.definition.name for setting in wanted)}",
        found="it takes a new file system, and all data would be lost",
        where=", ".join(str(setting.mount.point) for setting in wanted),
        remedy="vary it in a study whose target is a disk of its own: "
        "target: {loopback: {size: 2GiB}} or {scratch: {device: /dev/...}}",
    )


KIND = SettingKind(FilesystemSettingDefinition, bind, changes)


def _mount(place: str) -> Mount:
    path = Path(place)
    if path.exists() and not path.is_block_device():
        return mounts.find_mount(path)
    device = stack.find_devices(place)[0]
    for mount in mounts.read_mounts():
        if mount.lies_on(device.number, device.path):
            return mount
    raise TargetError(
        "a mounted file system",
        found=f"{device.name} is not mounted",
        where=place,
        remedy="name a path on it, or mount it",
    )
