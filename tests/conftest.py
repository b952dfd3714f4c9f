"""Shared fixtures and settings of all tests, and skips of tests that this machine cannot run."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# Tests start the program hundreds of times, and workers import the tests: each file is compiled
# once, whatever the environment wants.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Workers keep all processors busy: threads of BLAS would only take their time from each other.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Options of this run are none of the runs of pytest that tests start.
os.environ.pop("PYTEST_ADDOPTS", None)

from hypothesis import HealthCheck, settings  # noqa: E402 - compiled by pytest

# How long an example takes says how much else the machine does. Each run draws other examples, so
# few are enough for a run; `make property-tests` draws many.
settings.register_profile(
    "few", deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("many", settings.get_profile("few"), max_examples=1000)
settings.load_profile("few")

# A million objects of the collected tests live to the end: no collection of garbage looks at them.
gc.disable()

# The JVMs of the tests live for seconds: what their second compiler gains comes too late for them,
# and the bytecode of Hadoop's releases is as valid as ever.
os.environ["JAVA_TOOL_OPTIONS"] = (
    "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)

# What nohup(1) or a background job ignores would stay ignored in the programs under test.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "tests.shared_resources",  # before fixtures that hold one
    "tests.fixtures_browser",
    *(["tests.plugins.hadoop.fixtures"] if find_spec("iostudy_hadoop") else []),
    "tests.fixtures_loop",
    "tests.fixtures_pauses",
    "tests.fixtures_program",
    "tests.fixtures_tracefs",
    "tests.ended_runs",
    "tests.order",
    "tests.outcome",
    "tests.unflushed",
    "tests.unit_tests",
]


@pytest.fixture
def disk_folder() -> Iterator[Path]:
    """A folder on a disk: temporary folders may be in memory, as those of `make unit` are."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


# The core's unit tests pass without plugins. These are tests of a plugin, or of tools for all.
PLUGINS = (
    "iostudy_fleet",
    "iostudy_hadoop",
    "iostudy_hep",
    "iostudy_lab",
    "iostudy_search",
    "iostudy_trace",
    "iostudy_watch",
)
HAS_ALL_PLUGINS = all(map(find_spec, PLUGINS))
if not HAS_ALL_PLUGINS:
    collect_ignore = [
        "plugins",
        "calibration/test_documented.py",
        "calibration/test_fleets.py",
        "calibration/test_screening.py",
        "calibration/test_search.py",
        "calibration/test_unequal_slow.py",
        "tools/test_docs.py",
        "tools/test_links.py",
        "vm/test_modelled_drive.py",
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what needs something that is not there."""
    reasons = {}
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        reasons["root"] = "needs root and loop devices"
    if shutil.which("chromium") is None:
        reasons["browser"] = "needs Chromium"
    if not HAS_ALL_PLUGINS:
        reasons["all_plugins"] = "needs every plugin of the repository"
    for item in items:
        for marker, reason in reasons.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Collect garbage of the tests alone from here on, and not after every 700 objects."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()
