"""Options of mounts and of mounted file systems.

Some options belong to a mount (atime). All others belong to its file system, and so to every mount
of it, also in other namespaces. These are two owners. A device that is mounted several times has
one value of an option like commit, and several of atime.

Source: mount(2), "Remounting an existing mount"; /proc/self/mountinfo in proc_pid_mountinfo(5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import SettingError, TargetError
from iostudy.host import mounts, stack, volumes
from iostudy.host.devices import BlockDevice
from iostudy.host.mounts import Mount
from iostudy.settings import mount_options
from iostudy.settings.attributes import AttributeChange, AttributeSetting
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.mount import (
    MountDefinition,
    MountOptionsDefinition,
    MountSettingDefinition,
)
from iostudy.settings.mounting import calls as mount_calls
from iostudy.settings.mounting.owners import FileSystemOptions, MountFlags, Owner

_Wanted = dict[Owner, dict[str, str]]


@dataclass(frozen=True)
class OptionsSetting:
    """``mount.options``: as many attributes of a mount and its file system as a value names."""

    definition: MountOptionsDefinition
    flags: MountFlags
    filesystem: FileSystemOptions

    @property
    def label(self) -> str:
        return f"{self.definition.name}@{self.flags.name}"

    def read(self) -> str:
        """Return all options in force, with known defaults; SettingError if the mount is gone."""
        values = self.flags.values() | self.filesystem.values()
        if not values:
            raise SettingError(
                f"to read {self.label}",
                found="it has been unmounted",
                where=self.flags.name,
                remedy="mount it again",
            )
        return mount_options.format_options(values)

    def available_values(self) -> tuple[str, ...]:
        return ()

    def owner(self, key: str) -> Owner:
        """Return the owner of an option: the mount or its file system."""
        return self.flags if key in mount_options.PER_MOUNT else self.filesystem


MountSetting = AttributeSetting | OptionsSetting


def bind(definition: MountDefinition, place: str) -> tuple[MountSetting, ...]:
    """Return the setting of the mount of a path, or of all mounts of a device.

    TargetError for a missing place or a device without a mount.
    """
    bound = (_bound(definition, mount) for mount in _mounts(place))
    return tuple(dict.fromkeys(bound))


def changes(wanted: Mapping[MountSetting, str]) -> tuple[AttributeChange, ...]:
    """Return one change per mount and one per file system.

    SettingError before any change if two settings conflict, or if a file system does not know
    an option or cannot restore it.
    """
    by_owner, requested = _Wanted(), _Wanted()
    for setting, value in wanted.items():
        for owner, key, part in _parts(setting, value):
            _add(by_owner.setdefault(owner, {}), owner, key, part)
            requested.setdefault(owner, {})[setting.definition.name] = value
    for owner, after in by_owner.items():
        for key, value in after.items():
            owner.check(key, value)
    return tuple(AttributeChange.prepare(o, after, requested[o]) for o, after in by_owner.items())


KIND = SettingKind(MountDefinition, bind, changes)


def _bound(definition: MountDefinition, mount: Mount) -> MountSetting:
    match definition:
        case MountSettingDefinition(attribute=key):
            of_mount = key in mount_options.PER_MOUNT
            owner = (
                MountFlags.from_mount(mount) if of_mount else FileSystemOptions.from_mount(mount)
            )
            return AttributeSetting(definition, owner, key)
        case MountOptionsDefinition():
            flags, filesystem = MountFlags.from_mount(mount), FileSystemOptions.from_mount(mount)
            return OptionsSetting(definition, flags, filesystem)
        case _:
            raise AssertionError(definition)


def _parts(setting: MountSetting, value: str) -> list[tuple[Owner, str, str]]:
    """Owner, key and value of all that a setting changes."""
    match setting:
        case AttributeSetting(owner=MountFlags() | FileSystemOptions() as owner, attribute=key):
            return [(owner, key, value)]
        case OptionsSetting():
            values = mount_options.parse(value)
            return [(setting.owner(key), key, part) for key, part in values.items()]
        case _:
            raise AssertionError(setting)


def _add(after: dict[str, str], owner: Owner, key: str, value: str) -> None:
    if after.setdefault(key, value) != value:
        both = (mount_options.format_option(key, level) for level in (after[key], value))
        raise SettingError(
            f"one value of {key} of {owner.name}",
            found=f"{' and '.join(both)} are wanted at once",
            where=owner.name,
            remedy=f"leave {key} out of mount.options, or do without the setting of its own",
        )


def _mounts(place: str) -> tuple[Mount, ...]:
    path = Path(place)
    named = None if path.is_absolute() else volumes.find_device_by_name(place)
    if named is None and path.exists() and not path.is_block_device():
        return (mounts.find_mount(path),)
    given = stack.find_devices(place)
    members = {member.name: member for device in given for member in stack.btrfs_members(device)}
    mounted = (m for m in mounts.read_mounts() if _lies_on(m, members))
    reachable = tuple(filter(mount_calls.is_reachable, mounted))
    if not reachable:
        raise TargetError(
            "a mount",
            found=f"{', '.join(device.name for device in given)} itself is mounted nowhere",
            where=place,
            remedy="name the mount point; see `iostudy doctor` for what is mounted where",
        )
    return reachable


def _lies_on(mount: Mount, members: Mapping[str, BlockDevice]) -> bool:
    """Whether the mount lies on one of these; a btrfs has its own number but names a device.

    It never accesses the mount itself: an unavailable server would block.
    """
    if mount.device in {device.number for device in members.values()}:
        return True
    source = mount.named_device
    if source is None or not source.is_block_device():
        return False
    return not members.keys().isdisjoint(d.name for d in stack.find_devices(source))
