"""Shared fixtures and settings of all tests, and skips of tests that this machine cannot run."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how much else the machine does.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")

# Locks are for the whole host: those of the tests must not meet those of real studies.
_LOCKS = tempfile.TemporaryDirectory(prefix="iostudy-test-locks-")
os.environ["IOSTUDY_LOCK_DIR"] = _LOCKS.name

# Tests start the program hundreds of times: it is compiled once, whatever the environment wants.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The JVMs of the tests live for seconds: what their second compiler gains comes too late for them.
os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1"

# What nohup(1) or a background job ignores would stay ignored in the programs under test.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "tests.fixtures_hadoop",
    "tests.fixtures_loop",
    "tests.fixtures_tracefs",
    "tests.unit_tests",
]


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
