"""A file system that a study mounts, as a study file has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from iostudy import plugins
from iostudy.core import registered
from iostudy.plugins import Ref
from iostudy.settings.mount_options import find_unprotected
from iostudy.study.fields import STRICT_KEYS
from iostudy.study.targets.fields import DirectoryPath

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
    - ``prepare``: reference of a function of mount point, source and options that returns the
      change to apply
    """

    check: Callable[[str, str], None]
    prepare: Ref


@dataclass(frozen=True)
class MountRequest:
    """A file system to mount for the study: by mount(8), or by a plugin."""

    __pydantic_config__ = STRICT_KEYS

    source: Annotated[str, AfterValidator(_word), Field(validation_alias="mount")]
    """what is mounted, such as filer:/export or hdfs://namenode:8020/bench"""
    point: Annotated[DirectoryPath, AfterValidator(_absolute), Field(validation_alias="at")]
    """an empty directory to mount it on, in a folder that only root can enter (but for HDFS)"""
    type: Annotated[str, AfterValidator(_filesystem_type)] | None = None
    """type of the file system for mount(8), such as nfs4 or fuse.sshfs"""
    options: Annotated[str, AfterValidator(_word)] | None = None
    """options of mount(8) but those that undo nosuid,nodev, or those of a mount of HDFS, such as
    rdbuffer=64KiB,replication=2"""

    def __post_init__(self) -> None:
        if self.kind is None:
            if install := plugins.find_missing(self.source):
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
        """The kind of a plugin; None for mount(8)."""
        refs = (own for plugin in registered() for own in plugin.mounts.items())
        found = (ref for beginning, ref in refs if self.source.startswith(beginning))
        return next(map(plugins.load, found), None)

    def describe(self) -> str:
        """Describe source and options for a person."""
        return ", ".join(filter(None, (self.source, self.type, self.options)))
