"""Sections that no ending signal cuts short: what has begun to be put back is put back.

A handler that raises would leave such a section half-way. To block the signals by the thread's mask
does not help: the kernel then hands them to another thread (of a library's pool, say), and Python
runs the handler in the main thread all the same. So the handler itself waits for the section's end.
Children are not concerned: what is no mask is not inherited.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class _Main:
    """How many sections the main thread is in, and what waits for the outermost to end."""

    depth: int = 0
    waiting: Callable[[], None] | None = None


_main = _Main()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What handlers pass to `when_possible` meanwhile happens at the end of the outermost section.

    Only the main thread runs handlers, so that in others there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _main.depth += 1
    try:
        yield
    finally:
        _main.depth -= 1
        if not _main.depth and _main.waiting is not None:
            act, _main.waiting = _main.waiting, None
            act()


def when_possible(act: Callable[[], None]) -> None:
    """For a signal handler: act now, or once the section that is under way has ended."""
    if _main.depth:
        _main.waiting = act
    else:
        act()
