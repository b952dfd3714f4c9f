"""A new file system on a scratch disk: made, mounted and checked, and unmounted again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.errors import SettingError
from iostudy.host import mounts, stack
from iostudy.host.mounts import Mount
from iostudy.settings import commands
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.commands import CommandError
from iostudy.settings.definitions.filesystem import OPTIONS
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.mount_options import PROTECTION
from iostudy.settings.scratch import filesystem_properties, steps
from iostudy.settings.scratch.disk import MOUNT, PREFIX, ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem, mkfs_program
from iostudy.settings.scratch.volume.volume import Volume


@dataclass(frozen=True)
class NewFilesystem:
    """What was on the device is destroyed when it is made. Undo unmounts it, and it stays there."""

    kind: ClassVar[str] = "new-filesystem"

    path: Path
    found: ScratchIdentity
    point: Path
    filesystem: Filesystem

    @classmethod
    def prepare(cls, disk: ScratchDisk | Volume, filesystem: Filesystem) -> NewFilesystem:
        """One on a disk that is ready; TargetError if there is no tool to make it."""
        require_tools(filesystem.type)
        return cls(disk.device.path, disk.found, disk.mount_point, filesystem)

    @classmethod
    def from_record(cls, record: Record) -> NewFilesystem:
        """What the journal has kept."""
        return cls(
            Path(record["path"]),
            ScratchIdentity.from_record(record),
            own_folder.parse_recorded(str(Path(record["point"]).parent), PREFIX) / MOUNT,
            Filesystem(**record["filesystem"]),
        )

    def record(self) -> Record:
        """Device node, the device behind it, mount point and file system."""
        return {
            "path": str(self.path),
            **self.found.record(),
            "point": str(self.point),
            "filesystem": asdict(self.filesystem),
        }

    def describe(self) -> str:
        """What and where."""
        return f"new {self.filesystem.describe()} of {self._device} on {self.point}"

    def apply(self) -> None:
        """Make, mount and check it.

        TargetError if the device is used, or is another one than it was; SettingError if the file
        system cannot be made as wanted.
        """
        with (
            steps.open_verified(self.path, self.found) as device,
            steps.create_folder(self.point) as point,
        ):
            self._run(*self.filesystem.command(), str(steps.descriptor_path(device)))
            steps.require_same(device, self.path, self.found)
            self._mount_on(steps.descriptor_path(point))
        self.read_back()

    def _mount_on(self, point: Path) -> None:
        """Mount it on what was opened, while its device is open: neither name leads elsewhere."""
        options = ",".join(filter(None, (*PROTECTION, self.filesystem.options)))
        exact = ("mount", "--no-canonicalize", "-t", self.filesystem.type, "-o", options)
        self._run(*exact, str(self.path), str(point))

    @property
    def _device(self) -> str:
        return self.found.device.name

    def read_back(self) -> Mapping[str, str]:
        """Return the properties by label; SettingError if one differs from the request."""
        mount = self._mount()
        found = {name: self._read(name, mount) for name in self.filesystem.wanted()}
        for name, value in self.filesystem.wanted().items():
            if name == OPTIONS.name:
                differs = filesystem_properties.find_contradiction(
                    value, filesystem_properties.shown_options(mount)
                )
            else:
                differs = "" if found[name] == value else found[name]
            if differs:
                raise self._failed(f"{name} = {value}", f"it is {differs}")
        return {f"{name}@{self._device}": value for name, value in found.items()}

    def affected_resources(self) -> tuple[str, ...]:
        """None: its owner alone works on it, and the owner is gone when others undo it."""
        return ()

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Unmount it, and remove the mount point."""
        del policy
        was_there = self.point.exists()
        steps.unmount(self.point, self.found)
        steps.remove_folder(self.point)
        return (f"{self.describe()}: unmounted",) if was_there else ()

    def _mount(self) -> Mount:
        """The mount; SettingError if it is not there, or not of this device."""
        try:
            (mount,) = mounts.find_mounts_at(self.point)
        except ValueError as error:
            raise self._failed("one mount", "there is none, or several") from error
        found = stack.find_devices(self.point)
        if [self.found.matches(device) for device in found] != [True]:
            names = ", ".join(device.name for device in found)
            raise self._failed(f"{self._device} mounted", f"it is {names}, or not as it was")
        return mount

    def _read(self, name: str, mount: Mount) -> str:
        try:
            return filesystem_properties.read_property(name, mount)
        except (OSError, ValueError) as error:
            found = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise self._failed(f"to read {name}", found) from error

    def _run(self, *command: str) -> None:
        try:
            commands.run(*command)
        except CommandError as error:
            found = commands.format_complaint(error)
            raise self._failed(f"to make it ({command[0]})", found) from error

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
