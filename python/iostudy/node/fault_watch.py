"""Watch of the storage under test: why what ran since does not count."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

FindFaults = Callable[[], tuple[str, ...]]
"""Returns what happened to the storage since the watch began."""
FaultWatch = Callable[[], AbstractContextManager[FindFaults]]


def watch_nothing() -> AbstractContextManager[FindFaults]:
    """Find no faults: the study made no volume and compares no mounts."""
    return nullcontext(tuple)
