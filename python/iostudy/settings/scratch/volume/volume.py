"""A volume over scratch disks, as a reversible change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.errors import SettingError, TargetError
from iostudy.host import devices
from iostudy.host.devices import BlockDevice
from iostudy.settings import commands
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.commands import CommandError
from iostudy.settings.filesystem_location import FilesystemLocation
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.scratch import steps
from iostudy.settings.scratch.disk import PREFIX, FolderOfDisk
from iostudy.settings.scratch.volume import manager
from iostudy.settings.scratch.volume.layout import Manager, VolumeLayout
from iostudy.settings.scratch.volume.lvm import Lvm
from iostudy.settings.scratch.volume.manager import VolumeManager, VolumeState
from iostudy.settings.scratch.volume.md import Md

_MANAGERS: Mapping[Manager, VolumeManager] = {Manager.LVM: Lvm(), Manager.MD: Md()}
_NAME_PREFIX = "iostudy-"


@dataclass(frozen=True)
class Volume(FolderOfDisk):
    """A volume of one layout. ``layout`` is None after a rebuild from the journal.

    ``members`` are the disks that it uses. The folder has the mount point of its file system; the
    volume's name is that of the folder, so that it is unique.
    """

    kind: ClassVar[str] = "volume"

    folder: Path
    manager: Manager
    members: tuple[ScratchIdentity, ...]
    layout: VolumeLayout | None = None
    location: FilesystemLocation | None = None

    @classmethod
    def prepare(
        cls, folder: Path, layout: VolumeLayout, members: Sequence[ScratchIdentity]
    ) -> Volume:
        """Prepare one on the first of the members; ``folder`` is a new path with PREFIX.

        TargetError without enough members, or without the tools and the kernel modules.
        """
        require_support(layout)
        try:
            used = layout.members_used(len(members))
        except ValueError as error:
            raise TargetError(
                f"disks for {layout.describe()}",
                found=str(error),
                where="the target of the study",
                remedy="give more disks, fewer stripes or another kind",
            ) from error
        location = FilesystemLocation.find(folder)
        manager = layout.properties.manager
        return cls(folder, manager, tuple(members[:used]), layout, location)

    @classmethod
    def from_record(cls, record: Record) -> Volume:
        return cls(
            own_folder.parse_recorded(record["folder"], PREFIX),
            Manager(record["manager"]),
            tuple(map(ScratchIdentity.from_record, record["members"])),
            None,
            FilesystemLocation.from_record(record.get("place")),
        )

    def record(self) -> Record:
        return {
            "folder": str(self.folder),
            "manager": self.manager,
            "members": [member.record() for member in self.members],
            "place": self.location.record() if self.location else None,
        }

    def describe(self) -> str:
        what = self.layout.describe() if self.layout else f"{self.manager} volume"
        names = ", ".join(member.device.name for member in self.members)
        return f"{what} on {names} ({self.name})"

    @property
    def name(self) -> str:
        return _NAME_PREFIX + self.folder.name.removeprefix(PREFIX)

    @property
    def device(self) -> BlockDevice:
        with self._explaining("its device"):
            device = self._software.find(self.name)
            if device is None:
                raise CommandError("there is no such device")
            return device

    @property
    def identity(self) -> ScratchIdentity:
        return ScratchIdentity.from_device(self.device)

    def apply(self) -> None:
        """Make the volume on members without a signature; TargetError if that fails."""
        assert self.layout is not None, "rebuilt from a journal"
        paths = [devices.read_device(member.device.name).path for member in self.members]
        with steps.create_folder(self.folder):
            pass
        with ExitStack() as open_members, self._explaining("to make it"):
            for path, member in zip(paths, self.members, strict=True):
                open_members.enter_context(steps.open_verified(path, member))
                steps.require_no_signature(path)
            self._software.create(self.name, self.layout, paths)
        self.read_back()

    def read_back(self) -> Mapping[str, str]:
        """Return its properties by label; SettingError if they are not as requested."""
        assert self.layout is not None, "rebuilt from a journal"
        device, properties = self.device, self.layout.properties
        with self._explaining("its layout"):
            level, stripe_bytes = self._software.read_layout(self.name, device)
        wanted = properties.level, self.layout.stripe_size_bytes if properties.striped else 0
        if (level, stripe_bytes) != wanted:
            raise SettingError(
                f"{self.layout.describe()}, which is level {wanted[0]} with {wanted[1]} B",
                found=f"level {level} with stripes of {stripe_bytes} B",
                where=self.name,
                remedy="choose a layout that this kernel and these tools make",
            )
        return {f"{name}@{device.name}": value for name, value in self.layout.wanted().items()}

    def read_state(self) -> VolumeState:
        """Return its background work and health; TargetError if it is gone."""
        device = self.device
        with self._explaining("its state"):
            return self._software.read_state(self.name, device)

    @contextmanager
    def watch(self) -> Iterator[Callable[[], tuple[str, ...]]]:
        """Return a function that says why a trial since then does not count.

        TargetError if the volume is gone.
        """
        with self._software.watch(self.device) as has_event:

            def find_faults() -> tuple[str, ...]:
                with self._explaining("its events"):
                    happened = has_event()
                return self.read_state().describe(was_disturbed=happened)

            yield find_faults

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Remove the volume, its metadata on the members, and the folder.

        OutOfReachError if the file system of the folder is not mounted there.
        """
        members = (member.find() for member in self.members)
        paths = [device.path for device in members if device is not None]
        # udev opens a new volume for a moment.
        removed = steps.retry(lambda: self._software.remove(self.name, paths), self.name)
        was_there = self.remove_folder()
        return (f"{self.describe()}: removed",) if removed or was_there else ()

    @property
    def _software(self) -> VolumeManager:
        return _MANAGERS[self.manager]

    @contextmanager
    def _explaining(self, wanted: str) -> Iterator[None]:
        """TargetError with the message of a tool that failed."""
        try:
            yield
        except CommandError as error:
            raise TargetError(
                f"{self.describe()}: {wanted}",
                found=commands.format_complaint(error),
                where=self.name,
                remedy="see dmesg for what the kernel refused; choose another layout or disks",
            ) from error


def require_support(layout: VolumeLayout) -> None:
    """TargetError without the tools or the kernel modules for the layout."""
    commands.require(*_MANAGERS[layout.properties.manager].tools, "wipefs")
    manager.require(layout)
