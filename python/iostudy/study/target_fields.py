"""Types of values that several kinds of target have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from iostudy import units
from iostudy.drives import presets
from iostudy.settings.scratch.filesystem import FILESYSTEMS
from iostudy.study.fields import one_of
from iostudy.workloads.option_types import SIZE_FORM

MIN_DISK_BYTES = 16 * units.MIB
MAX_DISK_BYTES = 16 << 40
"""The largest file of ext4 with blocks of 4 KiB."""
_MAX_PATH_BYTES, _MAX_NAME_BYTES = 4096, 255


def _disk_size(value: Any) -> int:
    size = units.parse_size(value)
    if size < MIN_DISK_BYTES:
        raise ValueError(f"too small; at least {units.format_size(MIN_DISK_BYTES)}")
    if size > MAX_DISK_BYTES:
        raise ValueError(f"too large; at most {units.format_size(MAX_DISK_BYTES)}")
    return size


def _drive_model(name: str) -> str:
    if name not in presets.names() and not name.endswith(".yaml"):
        known = ", ".join(presets.names())
        raise ValueError(f"{name!r} is no modelled drive; write a drive file (.yaml) or {known}")
    return name


def short_path(path: Path) -> Path:
    """The path itself; ValueError for one that no system call takes (path_resolution(7))."""
    names = [len(name.encode(errors="surrogatepass")) for name in str(path).split("/")]
    if sum(names) + len(names) > _MAX_PATH_BYTES or max(names) > _MAX_NAME_BYTES:
        limits = f"{_MAX_PATH_BYTES} bytes, and {_MAX_NAME_BYTES} in each name"
        raise ValueError(f"the path is too long; at most {limits}")
    return path


DiskSize = Annotated[int, BeforeValidator(_disk_size), SIZE_FORM]
"""Size of a disk that the study makes, in bytes."""
DriveModel = Annotated[str, AfterValidator(_drive_model)]
DevicePath = Annotated[Path, AfterValidator(short_path)]
DirectoryPath = DevicePath
FilesystemType = Annotated[str, one_of("file system", FILESYSTEMS)]
