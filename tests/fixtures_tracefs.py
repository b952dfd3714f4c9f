"""The kernel's trace file system for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from iostudy.host import mounts
from iostudy.host.files import ROOT
from iostudy.settings import trace_instance
from tests.shared_resources import hold, is_last

OURS = "iostudy-tests"
"""Source of the mount that the tests make."""


@contextmanager
def mounted_tracefs() -> Iterator[Path]:
    """Where it is mounted; if need be for these tests only, which run as root."""
    # Mounts change in "tracing" only, and nobody is between the mount and its users.
    with ExitStack() as using:
        with hold("tracing"):
            users = using.enter_context(hold("tracing-users", shared=True))
            path, is_ours = _mounted()
        yield path
        with hold("tracing"):
            if is_ours and is_last(users):
                subprocess.run(["umount", path], check=True)
            using.close()


@pytest.fixture(scope="session")
def tracing() -> Iterator[Path]:
    """`mounted_tracefs` for a session of tests."""
    with mounted_tracefs() as path:
        yield path


def _mounted() -> tuple[Path, bool]:
    """The path, and whether a worker of these tests mounted it."""
    found = trace_instance.find_tracefs()
    if found is not None:
        return found, OURS in _source(found)
    path = ROOT / trace_instance.DEFAULT_PATH
    mounted = subprocess.run(["mount", "-t", "tracefs", OURS, path], check=False)
    if mounted.returncode or trace_instance.find_missing_events(path):
        pytest.skip("this kernel does not trace block requests")
    return path, True


def _source(path: Path) -> str:
    return "".join(m.source for m in mounts.read_mounts() if m.point == path)
