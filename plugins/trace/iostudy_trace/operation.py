"""Operation of a bio or request, from its flags.

Source: Documentation/trace/events.rst and the format of ``rwbs``: a letter for the operation, F
before it for a flush first, then F for forced unit access, A for read-ahead, S for sync, M for
metadata.
"""

from __future__ import annotations

from enum import StrEnum

_LETTERS = "RWDFN"
_SYNC = "S"


class Operation(StrEnum):
    """Operation of a bio or request."""

    READ = "read"
    WRITE = "write"
    DISCARD = "discard"
    FLUSH = "flush"


_BY_LETTER = {
    "R": Operation.READ,
    "W": Operation.WRITE,
    "N": Operation.WRITE,
    "D": Operation.DISCARD,
    "F": Operation.FLUSH,
}


def parse_operation(flags: str, size_bytes: int) -> Operation | None:
    """Return the operation; None for a command, which has no bytes.

    N is a write of zeros, as the kernel's counters have it.
    """
    flushes = flags.startswith("F")
    if not size_bytes:
        return Operation.FLUSH if flushes else None
    is_prefix = flushes and flags[1:2] in tuple(_LETTERS)
    return _BY_LETTER.get(flags[1:2] if is_prefix else flags[:1])


def is_sync(flags: str) -> bool:
    """Whether somebody waits for it: all reads, and writes with the flag."""
    return parse_operation(flags, 1) is Operation.READ or _SYNC in flags
