"""Another user of the host, without any rights, as a process that attacks."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UID = 65534
_IN_CREATE = 0x100
_EVENT_BYTES = 4096
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def attacking(attack: Callable[[], object]) -> Iterator[None]:
    """``attack`` is called again and again by another user, until the context is left."""
    child = os.fork()
    if not child:
        _attack_for_ever(attack)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Watch:
    """Wakes its process when something is made in a folder. Source: inotify(7)."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = _libc.inotify_init1(os.O_CLOEXEC)
        _libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _IN_CREATE)

    def wait(self) -> None:
        """Return once something new is there."""
        os.read(self._descriptor, _EVENT_BYTES)


def _attack_for_ever(attack: Callable[[], object]) -> None:
    try:
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        while True:
            with suppress(OSError):  # not yet, or not any more
                attack()
    finally:
        os._exit(1)
