"""Selection of unit tests: those that need no root, JVM, browser or child process.

A test is a unit test unless its markers or fixtures say otherwise. Under ``-m unit`` a test that
starts a child process fails, and its message names the marker that it lacks. There a module whose
``pytestmark`` leaves no unit test is not imported, which takes a worker a fifth of its start.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from multiprocessing import util
from pathlib import Path
from typing import Any

import pytest

OTHER_MARKERS = ("root", "browser", "process", "interpreter", "child", "campaign", "slow", "vm")
"""Markers of tests that are no unit tests."""

OTHER_FIXTURES = frozenset({"distribution", "java", "loop", "tracing", "two_loops"})
"""Fixtures that start programs or need devices."""

_CHILD_EVENTS = frozenset(
    {
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
"""Audit events of a process that starts another (Python's table of audit events)."""

_MODULE_MARKERS = re.compile(r"^pytestmark = (?:\[\n(?: .*\n)*|.*)", re.MULTILINE)
_OTHER_MARKER = re.compile(rf"pytest\.mark\.(?:{'|'.join(OTHER_MARKERS)})\b")

_started: list[str] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under ``-m unit``, leave out the modules that have other tests alone."""
    if config.option.markexpr != "unit" or collection_path.suffix != ".py":
        return None
    markers = _MODULE_MARKERS.search(collection_path.read_text())
    return True if markers and _OTHER_MARKER.search(markers[0]) else None


@pytest.hookimpl(tryfirst=True)  # before ``-m`` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow all cases of a campaign but its first; as unit what needs only this process."""
    campaigns = set()
    for item in items:
        if item.get_closest_marker("campaign"):
            function = item.nodeid.partition("[")[0]
            if function in campaigns:
                item.add_marker(pytest.mark.slow)
            campaigns.add(function)
        fixtures = frozenset(getattr(item, "fixturenames", ()))
        if not fixtures & OTHER_FIXTURES and not any(map(item.get_closest_marker, OTHER_MARKERS)):
            item.add_marker(pytest.mark.unit)


def pytest_configure(config: pytest.Config) -> None:
    """Record child processes where only unit tests run; Python cannot remove an audit hook."""
    if config.option.markexpr == "unit":
        sys.addaudithook(_record)
        util.spawnv_passfds = _spawn


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Fail a unit test whose fixtures start a child process."""
    with _no_child_process(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a unit test that starts a child process."""
    with _no_child_process(item):
        return (yield)


@contextmanager
def _no_child_process(item: pytest.Item) -> Iterator[None]:
    _started.clear()
    yield
    if _started and item.get_closest_marker("unit"):
        pytest.fail(f"a unit test started a child process ({_started[0]}): mark it `child`")


_spawnv_passfds = util.spawnv_passfds


def _spawn(*arguments: Any) -> int:
    """Start a process of multiprocessing, of which there is no audit event."""
    _started.append("multiprocessing")
    return _spawnv_passfds(*arguments)


def _record(event: str, _: object) -> None:
    if event in _CHILD_EVENTS:
        _started.append(event)
