"""Reader of many files that records access errors."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from iostudy.host.files import NOT_HERE, ROOT, decode

_LARGEST_BYTES = 16 << 20
"""No file that a host is configured by comes near this."""
_PIECE_BYTES = 64 << 10
"""Size of one read.

Linux 6.1 allocates the requested size for a file in /proc/sys, and refuses 4 MiB
(proc_sys_call_handler of fs/proc/proc_sysctl.c).
"""

_NO_FILE = (*NOT_HERE, errno.ELOOP)


class Reader:
    """Reads files below a root; ``refused`` lists denied reads."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._refused: dict[str, None] = {}

    @property
    def refused(self) -> tuple[str, ...]:
        """Return each denied read once: ``/proc/1/limits: Permission denied``."""
        return tuple(self._refused)

    def text(self, path: Path) -> str | None:
        """Return the content of a regular file, None if it is missing or denied.

        Folders, pipes, devices and dangling links count as missing, and never block.
        """
        try:
            return _text(path)
        except OSError as error:
            if error.errno in _NO_FILE:
                return None
            self.refuse(path, error)
            return None

    def refuse(self, path: Path, error: OSError) -> None:
        """Note that ``path`` could not be read. A process that has ended does not count."""
        if not isinstance(error, ProcessLookupError):
            self._refused[f"{path}: {error.strerror}"] = None


def _text(path: Path) -> str | None:
    if not stat.S_ISREG(path.stat().st_mode):
        return None
    # It may have been replaced by a pipe, and opening a pipe waits.
    data = bytearray()
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        while piece := file.read(_PIECE_BYTES):
            data += piece
            if len(data) > _LARGEST_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return decode(bytes(data)).removesuffix("\n")
