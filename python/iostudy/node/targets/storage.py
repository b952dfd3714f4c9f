"""Disks of a target, prepared before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.settings.scratch.disk import MOUNT, ScratchDisk
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.settings.transaction.transaction import Transaction
from iostudy.workloads.directories import TARGET


@dataclass(frozen=True)
class VolumeRequest:
    """A volume to make on disks, with the default layout."""

    folder: Path
    layout: VolumeLayout
    disks: tuple[ScratchDisk, ...]

    @property
    def mount_point(self) -> Path:
        """Mount point of its file systems."""
        return self.folder / MOUNT

    def prepare(self, settings: Mapping[str, str]) -> Volume:
        """Prepare it with a configuration's levels; the disks are there."""
        members = [disk.identity for disk in self.disks]
        return Volume.prepare(self.folder, self.layout.with_settings(settings), members)


@dataclass(frozen=True)
class ScratchStorage:
    """A disk or a volume for new file systems, with the default file system.

    ``additional`` are further disks by name; their file systems are made once and do not vary.
    ``disk`` is the first disk of a ``volume``.
    """

    disk: ScratchDisk
    filesystem: Filesystem
    additional: Mapping[str, ScratchStorage] = field(default_factory=dict)
    volume: VolumeRequest | None = None

    @property
    def disks(self) -> tuple[ScratchDisk, ...]:
        """Its own disk and the additional ones; those of the volume."""
        if self.volume is not None:
            return self.volume.disks
        return (self.disk, *(other.disk for other in self.additional.values()))

    @property
    def disk_names(self) -> Mapping[str, str]:
        """The study's names of several disks, by the kernel's; none for a single one."""
        if not self.additional:
            return {}
        names = {name: storage.disk.device.name for name, storage in self.additional.items()}
        return {device: name for name, device in ({TARGET: self.disk.device.name} | names).items()}

    @property
    def device_paths(self) -> tuple[Path, ...]:
        """The devices of the disks; paths of the user may be links with other targets by now."""
        return tuple(disk.device.path for disk in self.disks)

    @property
    def in_memory(self) -> bool:
        """Whether all data are those of disks in memory."""
        return all(disk.in_memory for disk in self.disks)

    @property
    def mount_point(self) -> Path:
        """Mount point of the file systems."""
        return self.volume.mount_point if self.volume else self.disk.mount_point

    def make_disks(self, transaction: Transaction) -> None:
        """Make the disks, and give each what it needs."""
        for disk in self.disks:
            transaction.apply(disk)
            transaction.apply(*disk.tune())
