"""Message about a call into the kernel that takes long, while it still waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from iostudy.line_handler import LineHandler
from iostudy.units import format_seconds

SLOW_SECONDS = 5.0
"""A choice: a person begins to wonder."""


@contextmanager
def report_slow_step(on_progress: LineHandler, step: str) -> Iterator[None]:
    """Pass one line to ``on_progress`` if the block takes longer than SLOW_SECONDS.

    sync(2) and drop_caches wait for every file system of the host, one after the other. A slow
    write or unmount of any of them holds them up, and nothing can interrupt them.
    """
    line = (
        f"{step} takes over {format_seconds(SLOW_SECONDS)}: the kernel waits for all file systems "
        "of the host, and one of them is slow to write or to unmount"
    )
    timer = threading.Timer(SLOW_SECONDS, on_progress, (line,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
