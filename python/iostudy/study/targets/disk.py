"""Targets on which a study makes file systems, and disks that it makes itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iostudy.plugins import Ref
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.fields import StudySection
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.target import Target


@dataclass(frozen=True)
class DiskRequest:
    """Disks of one size that the study makes.

    ``maker`` is the word of their maker in `iostudy.node.targets.made_disks`. ``models`` says of
    each disk what it is.
    """

    maker: str
    size_bytes: int
    models: tuple[str, ...]


class DiskTarget(Target):
    """A target with a file system of the study's own."""

    if TYPE_CHECKING:

        @property
        @abstractmethod
        def filesystem(self) -> str:
            """The file system that is made on it: a field of each kind."""

    @abstractmethod
    def describe_with(self, filesystem: str) -> str:
        """Describe the target for a person, with a text for the file system that is made on it."""

    def describe(self) -> str:
        return self.describe_with(self.filesystem)

    @property
    def made(self) -> DiskRequest | None:
        """The disks that the study makes; None for devices of the user."""
        return None

    @property
    def is_made(self) -> bool:
        return self.made is not None

    @property
    def made_levels(self) -> Mapping[str, str]:
        return {FILESYSTEM_TYPE.name: self.filesystem}

    def root_needs(self, description: str) -> tuple[str, ...]:
        return (f"{'make' if self.is_made else 'format'} {description}",)

    def without_root(self) -> Target:
        """Return the output folder: disks cannot be made or formatted without root."""
        return DirectoryTarget(None)


class MadeDisksTarget(DiskTarget):
    """Disks that the study makes, the first one for the trials."""

    driver: ClassVar[Ref] = "iostudy.node.targets.made_disks:MadeDisksDriver"

    @property
    @abstractmethod
    def made(self) -> DiskRequest:
        """The disks."""


ON_DRIVES = "a simulated volume is on drives: {drive: {model: ..., count: 4}}"


class MemberDisks(StudySection, ABC):
    """Disks that the study makes for a volume."""

    @property
    @abstractmethod
    def request(self) -> DiskRequest:
        """The disks to make."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the disks."""

    def simulate(self, layout: VolumeLayout) -> Target:
        """Return a volume over such disks on a virtual clock; ValueError if there is none."""
        raise ValueError(ON_DRIVES)
