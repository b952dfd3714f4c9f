"""Whether the files of a study fit on its target."""

from __future__ import annotations

import math
import os
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.units import format_rounded_size

# What a file system needs beside the files themselves: inodes, extents, its journal.
_ROOM_TO_SPARE = 1.02


def free_bytes(directory: Path) -> int:
    """What the file system of a directory has left for ordinary users."""
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize


def require_room(needed_bytes: int, room_bytes: int, where: str) -> None:
    """TargetError unless files of that size fit, with what the file system needs for itself."""
    needed_bytes = math.ceil(needed_bytes * _ROOM_TO_SPARE)
    if room_bytes < needed_bytes:
        raise TargetError(
            f"{format_rounded_size(needed_bytes)} for the files of the largest workload",
            found=f"{format_rounded_size(room_bytes)} are free",
            where=where,
            remedy="give fewer or smaller files, or a larger target",
        )
