"""Saved layout and folders of a local cluster.

The layout is written before the first folder and the first daemon, and removed after the last of
them. Any process that finds it can end the cluster.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from iostudy import own_folder
from iostudy.durable import write_whole
from iostudy.errors import ClusterError, TargetError, UsageError
from iostudy_hadoop.local.layout import FOLDER_PREFIX, ClusterLayout

FILE = "cluster.json"

_LAYOUT = TypeAdapter(ClusterLayout)
_PLAIN = re.compile(r"[\w./+@=~-]+")


def save(layout: ClusterLayout) -> None:
    """Write the layout durably. Raises OSError."""
    write_whole(layout.home / FILE, _LAYOUT.dump_json(layout, indent=2) + b"\n")


def load(home: Path) -> ClusterLayout:
    """Return the saved layout; ClusterError if it is missing or invalid."""
    path = home / FILE
    try:
        layout = from_record(json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise _no_cluster(path, "there is none") from error
    except (OSError, ValueError) as error:
        raise _no_cluster(path, str(error)) from error
    return replace(layout, home=home)


def to_record(layout: ClusterLayout) -> dict[str, Any]:
    """Return the layout as plain JSON values."""
    plain: dict[str, Any] = _LAYOUT.dump_python(layout, mode="json")
    return plain


def from_record(record: Mapping[str, Any]) -> ClusterLayout:
    """Return the layout of a record; ValueError if it is invalid or names foreign folders."""
    layout = _LAYOUT.validate_python(record)
    for folder in layout.folders():
        own_folder.parse_recorded(str(folder), FOLDER_PREFIX)
    return layout


def exists(home: Path) -> bool:
    """Whether there is a cluster or a part of one."""
    return (home / FILE).exists()


def make(layout: ClusterLayout) -> None:
    """Create its folders, all of them new; TargetError, ClusterError or OSError."""
    _require_plain(layout)
    layout.home.mkdir(parents=True, exist_ok=True)
    if exists(layout.home):
        raise ClusterError(
            "a folder for a new cluster",
            found="a cluster that has not been ended",
            where=str(layout.home / FILE),
            remedy="end it first, or name another folder",
        )
    save(layout)
    for folder in (layout.confs, layout.logs, layout.temporary):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)  # whatever the umask: the daemons may be another user
    for folder in layout.folders():
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise TargetError(
                "to make a folder for a part of the cluster",
                found=error.strerror or str(error),
                where=str(folder.parent),
                remedy="name a directory that is there, can be written to and has room",
            ) from error


def hand_over(folder: Path, uid: int) -> None:
    """Change the owner of a folder and of all in it, without following links. Raises OSError."""
    for _, directories, files, descriptor in os.fwalk(folder, topdown=False):
        for name in (*directories, *files):
            os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)
    os.chown(folder, uid, uid, follow_symlinks=False)


def stored_bytes(layout: ClusterLayout) -> int:
    """Return the space of its folders without logs and conf, as du(1) counts it.

    Daemons may run: a file that they remove meanwhile does not count.
    """
    total = 0
    for folder in layout.folders():
        for parent, directories, files in os.walk(folder):  # it passes over what is gone
            for name in (*directories, *files):
                with suppress(FileNotFoundError):
                    total += Path(parent, name).lstat().st_blocks * 512
    return total


def remove(layout: ClusterLayout) -> None:
    """Remove all its folders but logs and conf. RestoreError if that fails.

    The logs become this user's: later another cluster of root may have the user of their daemons.
    """
    for folder in layout.folders():
        own_folder.remove_folder(own_folder.parse_recorded(str(folder), FOLDER_PREFIX))
    if exists(layout.home) and not _belongs_to_another_cluster(layout):
        if layout.logs.exists() and layout.logs.stat().st_uid != os.geteuid():
            hand_over(layout.logs, os.geteuid())
        own_folder.remove_folder(layout.temporary)
        (layout.home / FILE).unlink(missing_ok=True)


def _belongs_to_another_cluster(layout: ClusterLayout) -> bool:
    """Whether the home now belongs to another cluster; a file without a layout belongs to none."""
    try:
        return load(layout.home).identity != layout.identity
    except ClusterError:
        return False


def _require_plain(layout: ClusterLayout) -> None:
    """Refuse paths with characters that have a meaning in Hadoop's lists of URIs."""
    for folder in (layout.home, *layout.folders()):
        if not _PLAIN.fullmatch(str(folder)):
            raise UsageError(
                "directories with plain names: letters, digits and . / + @ = ~ - _",
                found=str(folder),
                where="the folders of the cluster",
                remedy="rename it, or name another one",
            )


def _no_cluster(path: Path, found: str) -> ClusterError:
    return ClusterError(
        "a cluster that iostudy has started",
        found=found,
        where=str(path),
        remedy="name the folder that it was started with",
    )
