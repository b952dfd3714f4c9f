"""A new file system on a scratch disk: made, mounted and checked, and unmounted again."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Final

from iostudy import own_folder, units
from iostudy.errors import SettingError, TargetError
from iostudy.host import devices, mounts, stack
from iostudy.host.mounts import Mount
from iostudy.settings import commands
from iostudy.settings.change import ConflictPolicy, PrivateChange, Record
from iostudy.settings.commands import CommandError
from iostudy.settings.definitions import filesystem as definitions
from iostudy.settings.definitions.filesystem import OPTIONS
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.mount_options import PROTECTION
from iostudy.settings.scratch import steps
from iostudy.settings.scratch.disk import MOUNT, PREFIX, ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem, mkfs_program
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.units import KIB


@dataclass(frozen=True)
class NewFilesystem(PrivateChange):
    """What was on the device is destroyed when it is made. Undo unmounts it, and it stays there."""

    kind: ClassVar[str] = "new-filesystem"

    path: Path
    identity: ScratchIdentity
    point: Path
    filesystem: Filesystem

    @classmethod
    def prepare(cls, disk: ScratchDisk | Volume, filesystem: Filesystem) -> NewFilesystem:
        """One on a disk that is ready; TargetError if there is no tool to make it."""
        require_tools(filesystem.type)
        return cls(disk.device.path, disk.identity, disk.mount_point, filesystem)

    @classmethod
    def from_record(cls, record: Record) -> NewFilesystem:
        return cls(
            Path(record["path"]),
            ScratchIdentity.from_record(record),
            own_folder.parse_recorded(str(Path(record["point"]).parent), PREFIX) / MOUNT,
            Filesystem(**record["filesystem"]),
        )

    def record(self) -> Record:
        return {
            "path": str(self.path),
            **self.identity.record(),
            "point": str(self.point),
            "filesystem": asdict(self.filesystem),
        }

    def describe(self) -> str:
        return f"new {self.filesystem.describe()} of {self._device} on {self.point}"

    def apply(self) -> None:
        """Make, mount and check it.

        TargetError if the device is used, or is another one than it was; SettingError if the file
        system cannot be made as wanted.
        """
        with (
            steps.open_verified(self.path, self.identity) as device,
            steps.create_folder(self.point) as point,
        ):
            self._run(*self.filesystem.command(), str(steps.descriptor_path(device)))
            steps.require_same(device, self.path, self.identity)
            # On what was opened, while its device is open: neither name leads elsewhere.
            options = ",".join(filter(None, (*PROTECTION, self.filesystem.options)))
            exact = ("mount", "--no-canonicalize", "-t", self.filesystem.type, "-o", options)
            self._run(*exact, str(self.path), str(steps.descriptor_path(point)))
        self.read_back()

    @property
    def _device(self) -> str:
        return self.identity.device.name

    def read_back(self) -> Mapping[str, str]:
        """Return the properties by label; SettingError if one differs from the request."""
        mount = self._mount()
        values = {name: self._read(name, mount) for name in self.filesystem.wanted()}
        for name, value in self.filesystem.wanted().items():
            if name == OPTIONS.name:
                differs = find_contradiction(value, shown_options(mount))
            else:
                differs = "" if values[name] == value else values[name]
            if differs:
                raise self._failed(f"{name} = {value}", f"it is {differs}")
        return {f"{name}@{self._device}": value for name, value in values.items()}

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        was_there = self.point.exists()
        steps.unmount(self.point, self.identity)
        steps.remove_folder(self.point)
        return (f"{self.describe()}: unmounted",) if was_there else ()

    def _mount(self) -> Mount:
        """The mount; SettingError if it is not there, or not of this device."""
        try:
            (mount,) = mounts.find_mounts_at(self.point)
        except ValueError as error:
            raise self._failed("one mount", "there is none, or several") from error
        mounted = stack.find_devices(self.point)
        if [self.identity.matches(device) for device in mounted] != [True]:
            names = ", ".join(device.name for device in mounted)
            raise self._failed(f"{self._device} mounted", f"it is {names}, or not as it was")
        return mount

    def _read(self, name: str, mount: Mount) -> str:
        try:
            return PROPERTIES[name](mount)
        except (OSError, ValueError) as error:
            fault = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise self._failed(f"to read {name}", fault) from error

    def _run(self, *command: str) -> None:
        try:
            commands.run(*command)
        except CommandError as error:
            fault = commands.format_complaint(error)
            raise self._failed(f"to make it ({command[0]})", fault) from error

    def _failed(self, wanted: str, found: str) -> SettingError:
        return SettingError(
            f"{wanted}, for a new {self.filesystem.describe()}",
            found=found,
            where=f"{self.path} on {self.point}",
            remedy="choose what this mkfs and this kernel take together, or a larger disk; "
            "see dmesg for what the kernel refused",
        )


def require_tools(filesystem: str) -> None:
    """TargetError for a tool that is missing to make a file system of that type."""
    commands.require("setpriv", "mount", "umount", mkfs_program(filesystem))


_WITHOUT_MAKING: Final = {"ext2": "-n", "ext3": "-n", "ext4": "-n", "xfs": "-N"}
"""The option to do everything but write: mke2fs(8), mkfs.xfs(8). mkfs.btrfs(8) has none."""


def check_mkfs(filesystem: Filesystem, size_bytes: int) -> None:
    """TargetError with the message of mkfs if it rejects a disk of that size.

    Limits differ between versions (mkfs.xfs needs at least 300 MB since xfsprogs 5.19), so the
    installed mkfs runs on a sparse file in memory.
    """
    without_making = _WITHOUT_MAKING.get(filesystem.type)
    if without_making is None:
        return
    with closing(os.fdopen(os.memfd_create("iostudy"), "wb")) as disk:
        os.ftruncate(disk.fileno(), size_bytes)
        path = f"/proc/{os.getpid()}/fd/{disk.fileno()}"
        try:
            commands.run(*filesystem.command(), without_making, path)
        except CommandError as error:
            raise TargetError(
                f"a disk of {units.format_size(size_bytes)} with {filesystem.describe()}",
                found=commands.format_complaint(error),
                where="the target",
                remedy="use a larger size, or options that this mkfs accepts together",
            ) from error


_SECTOR_BYTES = 512
_SUPERBLOCK_AT, _SUPERBLOCK_BYTES = 1024, 1024
_MAGIC = 0xEF53
_HAS_JOURNAL = 0x4
NO_STRIPES = "none"


@dataclass(frozen=True)
class ExtSuperblock:
    """What the superblock of an ext2, ext3 or ext4 says; stripes are in blocks.

    Source: Documentation/filesystems/ext4/super.rst.
    """

    block_bytes: int
    blocks: int
    reserved_blocks: int
    has_journal: bool
    stride: int
    stripe_width: int

    @classmethod
    def parse(cls, data: bytes) -> ExtSuperblock:
        """Read a superblock from its 1024 bytes; ValueError if it is invalid."""
        if len(data) < _SUPERBLOCK_BYTES or struct.unpack_from("<H", data, 0x38)[0] != _MAGIC:
            raise ValueError("no superblock of an ext file system")
        low, reserved_low = struct.unpack_from("<II", data, 0x4)
        high, reserved_high = struct.unpack_from("<II", data, 0x150)
        return cls(
            block_bytes=KIB << struct.unpack_from("<I", data, 0x18)[0],
            blocks=high << 32 | low,
            reserved_blocks=reserved_high << 32 | reserved_low,
            has_journal=bool(struct.unpack_from("<I", data, 0x5C)[0] & _HAS_JOURNAL),
            stride=struct.unpack_from("<H", data, 0x164)[0],
            stripe_width=struct.unpack_from("<I", data, 0x170)[0],
        )


def find_contradiction(requested: str, shown: Sequence[str]) -> str:
    """Return the option that the kernel shows with another value, or "".

    Both are mount options. Undisplayed options are in force as well: the kernel refuses a mount
    with unknown options.
    """
    values = dict(option.split("=", 1) for option in shown if "=" in option)
    for option in requested.split(","):
        key, equals, value = option.partition("=")
        if equals and values.get(key, value) != value:
            return f"{key}={values[key]}"
        opposite = key.removeprefix("no") if key.startswith("no") else f"no{key}"
        if not equals and opposite in shown:
            return opposite
    return ""


def shown_options(mount: Mount) -> tuple[str, ...]:
    """The options of a mount and of its file system, each once."""
    return tuple(dict.fromkeys((*mount.options, *mount.super_options)))


def _reserved(mount: Mount) -> str:
    superblock = _superblock(mount)
    return str(round(100 * superblock.reserved_blocks / superblock.blocks))


def _stripe_width(mount: Mount) -> str:
    if mount.filesystem == "xfs":
        # It shows them among its mount options where it has any.
        shown = dict(option.split("=", 1) for option in mount.super_options if "=" in option)
        return _stripes(int(shown.get("sunit", 0)), int(shown.get("swidth", 0)), _SECTOR_BYTES)
    superblock = _superblock(mount)
    return _stripes(superblock.stride, superblock.stripe_width, superblock.block_bytes)


def _stripes(unit: int, width: int, each_bytes: int) -> str:
    return f"{unit * each_bytes // KIB} {width // unit}" if unit else NO_STRIPES


def _superblock(mount: Mount) -> ExtSuperblock:
    device = devices.read_device_by_number(mount.device)
    if device is None:
        raise ValueError("no block device holds it")
    with device.path.open("rb") as file:
        file.seek(_SUPERBLOCK_AT)
        return ExtSuperblock.parse(file.read(_SUPERBLOCK_BYTES))


PROPERTIES: dict[str, Callable[[Mount], str]] = {
    definitions.FILESYSTEM_TYPE.name: lambda mount: mount.filesystem,
    definitions.BLOCK_SIZE.name: lambda mount: str(os.statvfs(mount.point).f_frsize),
    definitions.JOURNAL.name: lambda mount: "on" if _superblock(mount).has_journal else "off",
    definitions.RESERVED.name: _reserved,
    definitions.STRIPE_WIDTH.name: _stripe_width,
    definitions.OPTIONS.name: lambda mount: ",".join(shown_options(mount)),
}
"""How each setting of a file system is read; OSError or ValueError if it is unreadable."""
