"""The kernel's trace file system for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.host import tracefs
from iostudy.host.files import ROOT


@pytest.fixture(scope="session")
def tracing() -> Iterator[Path]:
    """Where it is mounted; if need be for these tests only, which run as root."""
    found = tracefs.find_tracefs()
    if found is not None:
        yield found
        return
    place = ROOT / tracefs.DEFAULT_PATH
    mounted = subprocess.run(["mount", "-t", "tracefs", "nodev", place], check=False)
    if mounted.returncode or tracefs.find_missing_events(place):
        pytest.skip("this kernel does not trace block requests")
    yield place
    subprocess.run(["umount", place], check=True)
