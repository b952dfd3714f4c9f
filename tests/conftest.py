"""What every test may use, and which tests this machine can run."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

# Locks are for the whole host: those of the tests must not meet those of real studies.
_LOCKS = tempfile.TemporaryDirectory(prefix="iostudy-test-locks-")
os.environ["IOSTUDY_LOCK_DIR"] = _LOCKS.name

# What nohup(1) has ignored stays ignored in the programs that are tested for being ended by it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest_plugins = ["tests.fixtures_hadoop", "tests.fixtures_loop"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what needs something that is not there."""
    reasons = {}
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        reasons["root"] = "needs root and loop devices"
    if shutil.which("chromium") is None:
        reasons["browser"] = "needs Chromium"
    for item in items:
        for marker, reason in reasons.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
