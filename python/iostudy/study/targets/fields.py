"""Types of values that several kinds of target have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from iostudy import units
from iostudy.settings.scratch.filesystem import FILESYSTEMS
from iostudy.study.fields import one_of
from iostudy.workloads.option_types import SIZE_FORM

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
