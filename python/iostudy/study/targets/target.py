"""Specification of a target: the base class of every kind, which touches no system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from iostudy import plugins
from iostudy.core import registered
from iostudy.plugins import Ref
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.problems import KeyPath
from iostudy.study.targets.mount_request import MountRequest
from iostudy.workloads.workload import NO_TARGET, TargetPaths

_NONE: Mapping[str, Any] = MappingProxyType({})


class Target(ABC):
    """A target as a study file names it. Its driver in `iostudy.node.targets` works on it.

    A kind overrides what differs from a directory that exists already.
    """

    driver: ClassVar[Ref]
    """The driver that works on it, a `TargetDriver` of `iostudy.node.targets.driver`."""
    predicts: ClassVar[bool] = False
    """The figures of the study are predictions of a simulation."""
    command: ClassVar[str] = "run"
    """The command that carries the study out."""
    may_be_foreign: ClassVar[bool] = False
    """Root can work in its directories as the user to whom they belong: it makes no disk."""
    why_untraced: ClassVar[str] = ""
    """Why block requests cannot be traced on it; empty if they can."""
    why_unlimited: ClassVar[str] = ""
    """Why the load on it cannot be limited; empty if it can."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the target for a person."""

    def describe_with(self, filesystem: str) -> str:
        """Describe the target for a person, with a text for the file system that is made on it."""
        del filesystem
        return self.describe()

    def chosen(self) -> Target:
        """Return the target that runs: this one, or its simulation."""
        return self

    def describe_changes(self) -> tuple[str, ...]:
        """Describe what a study makes, formats or mounts on this host, for a person."""
        return ()

    @property
    def is_made(self) -> bool:
        """Whether the study makes the storage, and no one else uses it."""
        return False

    @property
    def destroyed(self) -> tuple[Path, ...]:
        """The devices of the user whose data the study destroys."""
        return ()

    @property
    def made_levels(self) -> Mapping[str, str]:
        """The levels of settings that take a new file system, by name; empty if none is made."""
        return _NONE

    @property
    def extra_filesystems(self) -> Mapping[str, str]:
        """The file systems of further disks that the study makes, by their names."""
        return _NONE

    @property
    def compared(self) -> Mapping[str, Path]:
        """The directories that the study compares, by their names."""
        return _NONE

    @property
    def layout(self) -> VolumeLayout | None:
        """The layout of a volume where the study varies nothing of it; None for other storage."""
        return None

    @property
    def models(self) -> tuple[str, ...]:
        """What each disk below it is; disks that are made from one model share it."""
        return ()

    @property
    def mount_requests(self) -> Mapping[str, MountRequest]:
        """Those of the compared directories that the study mounts."""
        return _NONE

    @property
    def cluster_uri(self) -> str:
        """The folder in HDFS of a cluster that is there; empty for storage of this host."""
        return ""

    @property
    def shared_directory(self) -> Path | None:
        """A directory that several nodes may share."""
        return None

    def named_paths(self, folder: Path) -> TargetPaths:
        """Return the paths by which the user names the target; ``folder`` is the output folder."""
        del folder
        return NO_TARGET

    def find_conflict(self, settings: Mapping[str, str]) -> tuple[KeyPath, str, str] | None:
        """Return why the storage cannot be made with these levels; None if it can.

        A key of the target's section, the reason, and what the section has instead.
        """
        del settings
        return None

    def root_needs(self, description: str) -> tuple[str, ...]:
        """Return what of the target only root can do; ``description`` is the study's."""
        del description
        return ()

    def without_root(self) -> Target:
        """Return what takes its place where the user is not root."""
        return self

    def without_place(self) -> Target:
        """Return the target without the names of its devices and folders, which differ by host."""
        return self

    def rewritten(self, original: Any, folder: str) -> Any:
        """Return what another study file says to work on the same target.

        ``original`` is what the study's own file says, ``folder`` the output folder of the other.
        """
        del folder
        return original


@dataclass(frozen=True)
class TargetKey:
    """A target of a plugin: a key of the section ``target``, or the beginning of its text.

    - ``annotation``, ``documentation``: the type of the key's value, a `Target`
    - ``members``: the type of the same key of a volume, a `MemberDisks` (``disk.py``)
    - ``parse``: makes the target of a text; ValueError says what is wrong with it
    """

    documentation: str = ""
    annotation: Any = None
    members: Any = None
    parse: Callable[[str], Target] | None = None


@cache
def list_plugin_targets() -> Mapping[str, TargetKey]:
    """Return the targets of plugins by their keys, or by the beginnings of their texts."""
    found = (plugin.targets.items() for plugin in registered())
    return {name: plugins.load(ref) for targets in found for name, ref in targets}
