"""Mounts of the directories that a study compares, as ``iostudy check`` prints them."""

from __future__ import annotations

from iostudy.host.mounts import Mount, find_mount
from iostudy.storage_kind import find_storage_kind
from iostudy.study.targets.mount_request import MountRequest
from iostudy.study.targets.target import Target


def describe_mounts(target: Target) -> list[tuple[str, str]]:
    """Return a line for each directory: file system, source, mount point, storage and options.

    None for other targets, and for a missing directory, which `check_target` refuses.
    """
    return [
        (f"on {name}", _describe_request(target.mount_requests[name]))
        if name in target.mount_requests
        else (f"on {name}", _describe(find_mount(path)))
        for name, path in target.compared.items()
        if path.is_dir()
    ]


def _describe_request(request: MountRequest) -> str:
    return f"{request.describe()}, which the study mounts at {request.point}"


def _describe(mount: Mount) -> str:
    kind = find_storage_kind(mount.filesystem, mount.source)
    options = ",".join(dict.fromkeys((*mount.options, *mount.super_options)))
    return f"{mount.filesystem} of {mount.source} at {mount.point} ({kind}): {options}"
