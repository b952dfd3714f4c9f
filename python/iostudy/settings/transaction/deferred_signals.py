"""Critical sections that defer termination signals.

A handler that raises would interrupt such a section. Blocking the signals in the thread's mask does
not help: the kernel delivers them to another thread, for example of a library's pool. Python then
still runs the handler in the main thread. So the handler itself waits for the end of the section.
Children are not affected, because they inherit no mask.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class _DeferredSignal:
    """Nesting depth of critical sections in the main thread, and the deferred action."""

    depth: int = 0
    waiting: Callable[[], None] | None = None


_main = _DeferredSignal()


@contextmanager
def defer_signals() -> Iterator[None]:
    """Defer actions that handlers pass to `run_or_defer` to the end of the outermost section.

    Only the main thread runs signal handlers, so other threads need no deferral.
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


def run_or_defer(act: Callable[[], None]) -> None:
    """For a signal handler: act now, or at the end of the current critical section."""
    if _main.depth:
        _main.waiting = act
    else:
        act()
