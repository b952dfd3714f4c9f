"""Directories that a study compares, with their mounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iostudy.report.base import Value
from iostudy.report.formatting import join_words
from iostudy.report.section import Section, make_table
from iostudy.storage_kind import StorageKind, find_storage_kind
from iostudy.study.model import Study


class DirectoryReport(Value):
    """A directory that the study compares, and its mount when the study began."""

    name: str
    """Name of the directory in the study file."""
    path: str
    """Path of the directory."""
    filesystem: str
    """Type of the file system, as the kernel names it."""
    source: str
    """Source of the mount: a device, or a server with its export."""
    mount_point: str
    """Mount point of the file system."""
    options: tuple[str, ...]
    """Options of the mount and of the file system."""
    storage: str
    """``device``, ``memory``, ``network``, ``FUSE process`` or ``other``."""


def build_directories(
    study: Study, circumstances: Mapping[str, Any]
) -> tuple[DirectoryReport, ...]:
    """Return the directories in the order of the study file; none for other targets."""
    if not study.target.compared:
        return ()
    mounts = circumstances.get("host", {}).get("mounts", {})
    return tuple(
        DirectoryReport(
            name=name,
            path=str(path),
            filesystem=mount["filesystem"],
            source=mount["source"],
            mount_point=mount["point"],
            options=tuple(dict.fromkeys(mount["options"])),
            storage=find_storage_kind(mount["filesystem"], mount["source"]),
        )
        for name, path in study.target.compared.items()
        if (mount := mounts.get(str(path)))
    )


_EXPLANATION = (
    "Each directory had data of its own, with the same content, made again in every block. A "
    "figure is that of the whole path: file system, devices, and network and servers if there are "
    "any."
)


def build_directories_section(directories: Sequence[DirectoryReport]) -> Section | None:
    """None for a study with a single place."""
    if not directories:
        return None
    notes = [_EXPLANATION]
    kept = [d.name for d in directories if not StorageKind(d.storage).drops_caches]
    if kept:
        notes.append(
            f"For {join_words(kept)}, only the caches of this host's kernel were dropped before "
            "trials that read. A server or a FUSE process may have served data from its memory."
        )
    rows = (
        {
            "directory": directory.name,
            "storage": directory.storage,
            "file system": directory.filesystem,
            "source": directory.source,
            "mounted on": directory.mount_point,
            "options": " ".join(directory.options),
        }
        for directory in directories
    )
    table = make_table(rows, names=3, words=3)
    return Section("directories", "Directories compared", tuple(notes), tables=(table,))
