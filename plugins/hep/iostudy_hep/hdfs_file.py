"""Files on a mount of HDFS, read by the client hdfs-native in place of the mount."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from iostudy.errors import WorkloadError
from iostudy.host.mounts import find_mount

_SCHEME = "hdfs"


def open_file(path: Path) -> Any:
    """Return the file as a binary object with seek and read.

    WorkloadError unless the file is on a mount of HDFS, and OSError if HDFS refuses it.
    """
    mount = find_mount(path)
    source = urlsplit(mount.source)
    if source.scheme != _SCHEME:
        raise WorkloadError(
            "a file on a mount of HDFS, to read it by the interface of HDFS",
            found=f"{mount.filesystem} of {mount.source}",
            where=str(path),
            remedy="name a target on an `iostudy mount hdfs://...`, or leave out access: hdfs",
        )
    inside = path.resolve().relative_to(mount.point)
    client = importlib.import_module("hdfs_native").Client(f"{source.scheme}://{source.netloc}")
    return client.read(f"{source.path.rstrip('/')}/{inside}")
