"""Place of a file on its device (Documentation/filesystems/fiemap.rst)."""

from __future__ import annotations

import fcntl
import struct
from pathlib import Path

from iostudy.prober import BLOCK_BYTES

_FIEMAP, _EXTENTS = 0xC020660B, 64
_HEADER, _EXTENT = struct.Struct("=QQIIII"), struct.Struct("=QQQQQIIII")


def first_block(path: Path) -> int:
    """Return the first block of a file; AssertionError for one in several pieces."""
    header = _HEADER.pack(0, 2**64 - 1, 1, 0, _EXTENTS, 0)
    buffer = bytearray(header + bytes(_EXTENT.size * _EXTENTS))
    with path.open("rb") as file:
        fcntl.ioctl(file, _FIEMAP, buffer)
    count = _HEADER.unpack_from(buffer)[3]
    places = [_EXTENT.unpack_from(buffer, _HEADER.size + k * _EXTENT.size) for k in range(count)]
    starts = {physical - logical for logical, physical, *_ in places}
    assert len(starts) == 1, f"{path} is in {count} pieces"
    return int(starts.pop() // BLOCK_BYTES)
