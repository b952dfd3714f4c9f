"""Common bases of owners of attributes: files of the kernel, and what a reboot resets."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Self

from iostudy.host.files import ROOT, read_attribute, write_attribute
from iostudy.settings.attributes import READ_ONLY_REMEDY, SideEffects
from iostudy.settings.change import WHOLE_HOST, Record
from iostudy.settings.identity import boot_id


class KernelFiles:
    """Files below ``/sys`` or ``/proc``, each an attribute by its path without the first slash."""

    needed_mode: ClassVar[int] = stat.S_IWUSR
    """Rights of a file that can be changed."""

    def path(self, attribute: str) -> Path:
        """Return the path of the attribute; of an empty one the folder of all."""
        return ROOT / attribute

    def matching(self, pattern: str) -> tuple[str, ...]:
        folder, needed = self.path(""), self.needed_mode
        paths = (p for p in sorted(folder.glob(pattern)) if p.stat().st_mode & needed == needed)
        return tuple(str(path.relative_to(folder)) for path in paths)

    def read(self, attribute: str) -> str | None:
        return read_attribute(self.path(attribute))

    def write(self, attribute: str, value: str) -> None:
        write_attribute(self.path(attribute), value)

    def location(self, attribute: str) -> str:
        return str(self.path(attribute))

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        if isinstance(error, PermissionError):
            return "run as root"
        if error.errno == errno.EROFS:
            return READ_ONLY_REMEDY
        return "choose a value that this kernel takes"


@dataclass(frozen=True)
class HostAttributes:
    """Attributes of the host that a reboot resets; a kind adds where and how they are read."""

    kind: ClassVar[str]

    boot: str

    @classmethod
    def from_record(cls, record: Record) -> Self:
        return cls(**record)

    def record(self) -> Record:
        """Return the boot, whose end resets the values, and the owner's identity."""
        return asdict(self)

    @property
    def side_effects(self) -> SideEffects:
        return {}

    def absence_reason(self) -> str | None:
        return None if self.boot == boot_id() else "the host has been rebooted"

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Return the attributes, those with dependants first."""
        return sorted(attributes, key=lambda name: (name not in self.side_effects, name))

    def available_values(self, attribute: str) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class HostFiles(KernelFiles, HostAttributes):
    """Files of the kernel that belong to the host."""

    @property
    def name(self) -> str:
        return "this host"

    def affected_resources(self) -> tuple[str, ...]:
        return (WHOLE_HOST,)
