"""Targets of a study, the types of their fields, and the file systems that a study mounts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from iostudy import plugins, units
from iostudy.core import registered
from iostudy.plugins import Ref
from iostudy.settings.mount_options import MOUNT_POINTS, find_unprotected
from iostudy.settings.scratch.filesystem import FILESYSTEMS
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.fields import STRICT_KEYS, one_of
from iostudy.study.problems import KeyPath
from iostudy.workloads.option_types import SIZE_FORM
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
        return NO_TARGET

    def find_conflict(self, settings: Mapping[str, str]) -> tuple[KeyPath, str, str] | None:
        """Return why the storage cannot be made with these levels; None if it can.

        A key of the target's section, the reason, and what the section has instead.
        """
        return None

    def root_needs(self, description: str) -> tuple[str, ...]:
        """Return what of the target only root can do; ``description`` is the study's."""
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
    groups = (plugin.targets.items() for plugin in registered())
    return {name: plugins.load(ref) for targets in groups for name, ref in targets}


MIN_DISK_BYTES = 16 * units.MIB
MAX_DISK_BYTES = 16 << 40
"""The largest file of ext4 with blocks of 4 KiB."""
_MAX_PATH_BYTES, _MAX_NAME_BYTES = 4096, 255
MAX_DISKS = 32
"""Disks in addition to the target; each is made and mounted before the first trial."""
MAX_MEMBERS = 128
"""Disks of a volume."""
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of a disk or directory: letters, digits, - and _, as in disk2"
        )
    return name


def _disk_size(value: Any) -> int:
    size = units.parse_size(value)
    if size < MIN_DISK_BYTES:
        raise ValueError(f"too small; at least {units.format_size(MIN_DISK_BYTES)}")
    if size > MAX_DISK_BYTES:
        raise ValueError(f"too large; at most {units.format_size(MAX_DISK_BYTES)}")
    return size


def short_path(path: Path) -> Path:
    """The path itself; ValueError for one that no system call takes (path_resolution(7))."""
    names = [len(name.encode(errors="surrogatepass")) for name in str(path).split("/")]
    if sum(names) + len(names) > _MAX_PATH_BYTES or max(names) > _MAX_NAME_BYTES:
        limits = f"{_MAX_PATH_BYTES} bytes, and {_MAX_NAME_BYTES} in each name"
        raise ValueError(f"the path is too long; at most {limits}")
    return path


Name = Annotated[str, AfterValidator(_name)]
"""Name of a disk or directory."""
MemberCount = Annotated[int, Field(ge=1, le=MAX_MEMBERS)]
DiskSize = Annotated[int, BeforeValidator(_disk_size), SIZE_FORM]
"""Size of a disk that the study makes, in bytes."""
DevicePath = Annotated[Path, AfterValidator(short_path)]
DirectoryPath = DevicePath
FilesystemType = Annotated[str, one_of("file system", FILESYSTEMS)]


_WORD = re.compile(r"[^\s\0]+")
_NOT_OWN = frozenset({"bg", "move", "rbind", "remount"})
"""Options of mount(8) that mount later, move or repeat mounts of the user, or change one."""
_TYPE = re.compile(r"[a-z0-9][a-z0-9._-]*")


def _word(text: str) -> str:
    if not _WORD.fullmatch(text):
        raise ValueError(f"{text!r} must be a text without blanks")
    if text.startswith("-"):
        raise ValueError(f"{text!r} begins with -")
    return text


def _filesystem_type(text: str) -> str:
    if not _TYPE.fullmatch(text):
        raise ValueError(f"{text!r} is no type of a file system, such as nfs4 or fuse.sshfs")
    return text


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError(f"{path} is no absolute path")
    return path


@dataclass(frozen=True)
class MountKind:
    """Mounts of a plugin, which are of a source that begins with what the plugin registers.

    - ``check``: a function of source and options; ValueError says what is wrong with them
    - ``require``: reference of a function of `MountRequest` that raises why it cannot be mounted;
      it changes and downloads nothing
    - ``prepare``: reference of a function of `MountRequest`, output folder and a receiver of
      progress; it yields the changes, each of which is applied before the next is prepared
    - ``is_local``: the study serves it with data in the output folder
    """

    check: Callable[[str, str], None]
    require: Ref
    prepare: Ref
    is_local: bool = False


@dataclass(frozen=True)
class MountRequest:
    """A file system to mount for the study: by mount(8), or by a plugin."""

    __pydantic_config__ = STRICT_KEYS

    source: Annotated[str, AfterValidator(_word), Field(validation_alias="mount")]
    """what is mounted, such as filer:/export or hdfs://namenode:8020/bench"""
    point: Annotated[DirectoryPath, AfterValidator(_absolute), Field(validation_alias="at")] = (
        MOUNT_POINTS
    )
    """an empty directory to mount it on, in a folder that only root can enter (but for HDFS);
    without it, one of its name in /run/iostudy/mounts"""
    type: Annotated[str, AfterValidator(_filesystem_type)] | None = None
    """type of the file system for mount(8), such as nfs4 or fuse.sshfs"""
    options: Annotated[str, AfterValidator(_word)] | None = None
    """options of mount(8) but those that undo nosuid,nodev, or those of a mount of HDFS, such as
    rdbuffer=64KiB,replication=2"""

    def __post_init__(self) -> None:
        if self.kind is None:
            install = plugins.find_missing(self.source)
            is_word = self.type is None and ":" not in self.source
            if install and (is_word or "://" in self.source):
                raise ValueError(f"the plugin of this mount is not installed; {install}")
            for option in _NOT_OWN.intersection((self.options or "").split(",")):
                raise ValueError(f"the option {option} does not make a mount of the study")
            if unprotected := find_unprotected(self.options or ""):
                raise ValueError(
                    f"leave {unprotected} out: what a study mounts is always nosuid,nodev, so that "
                    "its owner gains no rights"
                )
            return
        if self.type is not None:
            raise ValueError(f"a mount of {self.source} has no type; leave it out")
        self.kind.check(self.source, self.options or "")

    @property
    def kind(self) -> MountKind | None:
        """The kind of a plugin, of a beginning with :// or a whole source; None for mount(8)."""
        refs = [item for plugin in registered() for item in plugin.mounts.items()]
        whole = (ref for source, ref in refs if source == self.source)
        begun = (ref for source, ref in refs if "://" in source and self.source.startswith(source))
        return next(map(plugins.load, chain(whole, begun)), None)

    @property
    def is_local(self) -> bool:
        """Whether the study serves it with data in the output folder."""
        return self.kind is not None and self.kind.is_local

    def describe(self) -> str:
        """Describe source and options for a person."""
        return ", ".join(filter(None, (self.source, self.type, self.options)))


def require_plugins(words: Iterable[object]) -> None:
    """Raise ValueError for a target whose plugin is not installed."""
    for word in words:
        if install := plugins.find_missing(str(word)):
            raise ValueError(f"the plugin of {word} is not installed; {install}")
