"""Options of a mount of HDFS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from iostudy.units import MIB, parse_seconds, parse_size

CHECKSUM_BYTES = 512
"""Bytes of a checksum: blocks are multiples of it (dfs.bytes-per-checksum, hdfs-default.xml)."""


@dataclass(frozen=True)
class MountOptions:
    """Bytes of the read buffer of each open file, timeouts in seconds, and largest request.

    The defaults are those of fuse-dfs. ``max_read`` is None for the largest request that the kernel
    allows. ``replication`` and ``block_size`` are those of new files on a ``writable`` mount; None
    for the NameNode's default.
    """

    rdbuffer: int = 10 * MIB
    attribute_timeout: float = 60.0
    entry_timeout: float = 60.0
    max_read: int | None = None
    writable: bool = False
    replication: int | None = None
    block_size: int | None = None

    def __post_init__(self) -> None:
        """Refuse options of new files that have no effect or that HDFS refuses: ValueError."""
        given = {"replication": self.replication, "block_size": self.block_size}
        named = [name for name, value in given.items() if value is not None]
        if named and not self.writable:
            raise ValueError(f"{named[0]} is an option of new files, which need a writable mount")
        if self.block_size is not None and (
            not self.block_size or self.block_size % CHECKSUM_BYTES
        ):
            raise ValueError(f"block_size {self.block_size} B is no multiple of {CHECKSUM_BYTES} B")
        if self.replication is not None and self.replication < 1:
            raise ValueError("replication is at least 1")


_PARSERS: Mapping[str, Callable[[str], int | float]] = {
    "rdbuffer": parse_size,
    "attribute_timeout": parse_seconds,
    "entry_timeout": parse_seconds,
    "max_read": parse_size,
    "replication": int,
    "block_size": parse_size,
}


def parse_writable(text: str) -> MountOptions:
    """Return the options of a writable mount from ``rdbuffer=64KiB,replication=2``.

    ValueError says what is wrong with them.
    """
    values: dict[str, int | float] = {}
    for name, _, value in (part.partition("=") for part in text.split(",") if part):
        if name not in _PARSERS:
            raise ValueError(f"{name} is no option of a mount of HDFS: {', '.join(_PARSERS)}")
        if name in values:
            raise ValueError(f"{name} is given twice")
        try:
            values[name] = _PARSERS[name](value)
        except ValueError as error:
            raise ValueError(f"{name}={value}: {error}") from error
    return MountOptions(**values, writable=True)  # type: ignore[arg-type]
