"""Suggestions of NFS mounts for a study's logs, as in the reproduced report (pure).

Each comes with its line of the study file. Mounts are neither written nor accessed: one with a lost
server would block the caller.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from iostudy.host.mounts import NFS, Mount
from iostudy.study import reference
from iostudy.study.combinations import Factor
from iostudy.study.model import Study

_OPTION = "logs"
_LEVEL = "nfs"


def suggest_nfs(study: Study, mounts: Iterable[Mount]) -> Iterator[str]:
    """List configurations of the report that the study lacks, and how to add them."""
    logs = next((factor for factor in study.factors if factor.option == _OPTION), None)
    missing = _missing_configurations(study)
    if logs is None or not missing:
        return
    points = list(dict.fromkeys(own.point for own in mounts if _is_writable_nfs(own)))
    if not points:
        names = ", ".join(missing)
        yield f"left out of {study.reference}: {names}, as no NFS is mounted here for writing"
    for point in (own for own in points if not _is_used(own, logs)):
        yield f"NFS at {point} is not used; for a log there {_remedy(study, logs, missing, point)}"


def _missing_configurations(study: Study) -> Sequence[str]:
    """The configurations of the report that lie on NFS, and that the study does not have."""
    if study.reference is None:
        return ()
    published = dict.fromkeys(own.configuration for own in reference.get(study.reference).figures)
    labels = {own.label for own in study.configurations()}
    return [name for name in published if "NFS" in name and name not in labels]


def _is_writable_nfs(mount: Mount) -> bool:
    """Whether the mount is writable by its options, and its path fits in a list of logs."""
    writable = "rw" in mount.options and "rw" in mount.super_options
    return mount.filesystem in NFS and writable and "," not in str(mount.point)


def _is_used(point: Path, logs: Factor) -> bool:
    paths = (Path(path.strip()) for level in logs.levels for path in level.value.split(","))
    return any(path.is_relative_to(point) for path in paths)


def _remedy(study: Study, logs: Factor, missing: Sequence[str], point: Path) -> str:
    path, label = json.dumps(str(point), ensure_ascii=False), missing[0]
    if not study.chosen:
        return f"add to {logs.name}: `{label}: {path}`"
    chosen = f"`{label}: {{{logs.name}: {_LEVEL}}}`"
    return f"add to {logs.name}: `{_LEVEL}: {path}`, and to configurations: {chosen}"
