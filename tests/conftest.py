"""What every test may use, and which tests this machine can run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

pytest_plugins = ["tests.fixtures_loop"]


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
