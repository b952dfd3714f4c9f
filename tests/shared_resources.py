"""Tests side by side: a test holds what is there once on a host, and folders are its worker's own.

The workers of pytest-xdist are processes, and so are runs from several clones: a file lock of the
host keeps two tests from one resource. A test declares it with the marker ``exclusive``, or uses a
fixture of `FIXTURE_RESOURCES`.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from iostudy.settings.transaction.locks import LOCK_DIR
from iostudy.settings.transaction.state import STATE_DIR
from tests.run_folders import PREFIX, lock

RESOURCES = {
    "host": "sysctls, huge pages and configuration files of the host",
    "hadoop": "memory and processors for the daemons of a cluster",
    "trace": "instances of the kernel's tracing, which tests of iostudy list",
}
"""Resources of the host that one test at a time may use, with their content."""

FIXTURE_RESOURCES = {
    "new_cluster": "hadoop",
    "hadoop_cluster": "hadoop",
    "hdfs": "hadoop",
    "tracing": "trace",
}
"""Fixture -> the resource that it uses."""

_HOST_LOCK = "host.lock"
"""The lock of iostudy on settings of the whole host."""

_LOCKS = Path("/run") if os.geteuid() == 0 else Path.home() / ".cache"
"""Only this user can create files there, so that no other can redirect or hold the locks."""

# Locks and journals of the tests must not meet those of real studies, nor of other workers.
_FOLDER = tempfile.TemporaryDirectory(prefix=PREFIX)
_LOCK_OF_FOLDER = lock(Path(_FOLDER.name))
_LOCK_DIR = Path(_FOLDER.name) / "locks"
os.environ[LOCK_DIR] = str(_LOCK_DIR)
os.environ[STATE_DIR] = str(Path(_FOLDER.name) / "state")


def find_resources(item: pytest.Item) -> frozenset[str]:
    """Return the resources that a test declares."""
    declared = {name for marker in item.iter_markers("exclusive") for name in marker.args}
    used = {FIXTURE_RESOURCES.get(name) for name in getattr(item, "fixturenames", ())} - {None}
    return frozenset(declared | used)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a resource that does not exist."""
    for item in items:
        if unknown := find_resources(item) - RESOURCES.keys():
            raise pytest.UsageError(
                f"{item.nodeid}: exclusive{sorted(unknown)} is not in RESOURCES"
            )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the resources of a test while it runs, its fixtures included."""
    with ExitStack() as held:
        for name in sorted(find_resources(item)):  # one order for all: no two wait for each other
            held.enter_context(hold(name))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test that changes settings of the whole host and does not say so."""
    before = _last_host_lock()
    yield
    # Tests without root lock it too, and change files of their own.
    needs_host = item.get_closest_marker("root") and "host" not in find_resources(item)
    if needs_host and _last_host_lock() != before:
        pytest.fail('it locked settings of the whole host: mark it `exclusive("host")`')


@contextmanager
def hold(name: str, *, shared: bool = False) -> Iterator[IO[str]]:
    """Wait until the resource is free, and hold it, alone or with others on this host."""
    folder = _LOCKS / "iostudy-tests"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield file


def is_last(held: IO[str]) -> bool:
    """Whether nobody else holds the shared resource; then it is held alone."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _last_host_lock() -> int:
    """When a command of this worker last locked the host; a holder writes its name there."""
    try:
        return (_LOCK_DIR / _HOST_LOCK).stat().st_mtime_ns
    except FileNotFoundError:
        return 0
