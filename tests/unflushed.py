"""Records of iostudy that no test flushes to the disk; workloads and tests themselves do flush.

A program that ends or is killed leaves what it wrote in the kernel, flushed or not. Only a crash of
the host loses it, and no test crashes its host: tests of durability look at the calls. A flush
takes milliseconds, a study makes hundreds, and all workers wait for one disk. Programs of the
marker ``interpreter`` and of crash tests flush as they always do.

A unit test writes and drops no pages of the whole machine, although it may run as root: that takes
50 ms of a processor, and all other tests wait for it and read their files again.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from unittest.mock import patch

import pytest

from iostudy.ledger import store
from iostudy.node import caches

_RECORDERS = frozenset(
    {
        "iostudy.durable",
        "iostudy.ledger.seal",
        "iostudy.settings.transaction.journal",
        "iostudy_fleet.replicate.transfer",
    }
)
"""Modules that do not flush in tests."""


def _leave_out(flush: Callable[[int], None]) -> Callable[[int], None]:
    def flush_unless_record(descriptor: int) -> None:
        if sys._getframe(1).f_globals["__name__"] in _RECORDERS:
            os.fstat(descriptor)  # a closed descriptor is an error here too
        else:
            flush(descriptor)

    return flush_unless_record


connect_durably = store._connect
"""The connection of a ledger as a user has it."""


def _connect(path: Path) -> sqlite3.Connection:
    connection = connect_durably(path)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


os.fsync = _leave_out(os.fsync)
os.fdatasync = _leave_out(os.fdatasync)
store._connect = _connect


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A unit test has the caches of a user who may not drop those of the machine."""
    if not item.get_closest_marker("unit"):
        return (yield)
    with (
        patch.object(caches, "DROP_CACHES", Path("/proc/none")),
        patch.object(caches, "write_dirty_pages", lambda: None),
    ):
        return (yield)
