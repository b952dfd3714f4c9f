"""Directories of a study with their mounts, from its circumstances (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iostudy.report.topics.directories.values import DirectoryReport
from iostudy.storage_kind import find_storage_kind
from iostudy.study.model import Study


def build_directories(
    study: Study, circumstances: Mapping[str, Any]
) -> tuple[DirectoryReport, ...]:
    """Return the directories in the order of the study file; none for other targets."""
    if not study.target.compared:
        return ()
    mounts = circumstances.get("host", {}).get("mounts", {})
    named = {name: str(path) for name, path in study.target.compared.items()}
    return tuple(_build(name, path, mounts[path]) for name, path in named.items() if path in mounts)


def _build(name: str, path: str, mount: Mapping[str, Any]) -> DirectoryReport:
    filesystem, source = mount["filesystem"], mount["source"]
    return DirectoryReport(
        name=name,
        path=path,
        filesystem=filesystem,
        source=source,
        mount_point=mount["point"],
        options=tuple(dict.fromkeys(mount["options"])),
        storage=find_storage_kind(filesystem, source),
    )
