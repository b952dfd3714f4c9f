"""Selection of unit tests: those that need no root, JVM, browser or child process.

Marks every other test by what it uses. Under ``-m unit`` a test that starts a child process fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

ELSEWHERE = ("root", "browser", "process", "child", "slow", "vm")
"""Markers of tests that are no unit tests."""

FIXTURES = frozenset({"distribution", "java", "loop", "tracing"})
"""Fixtures that start programs or need devices."""

_STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
"""Audit events of a process that starts another (Python's audit events table)."""

_active: list[str] = []
_started: list[str] = []


@pytest.hookimpl(tryfirst=True)  # before ``-m`` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark with ``unit`` what needs nothing but this process."""
    for item in items:
        used = frozenset(getattr(item, "fixturenames", ()))
        if not used & FIXTURES and not any(map(item.get_closest_marker, ELSEWHERE)):
            item.add_marker(pytest.mark.unit)


@pytest.fixture(autouse=True)
def _no_child_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a unit test that starts a child process; only where unit tests alone are run."""
    if request.config.option.markexpr != "unit":
        yield
        return
    _started.clear()
    _active.append(request.node.nodeid)
    yield
    _active.clear()
    if _started:
        pytest.fail(f"a unit test started a child process ({_started[0]}): mark it `child`")


def _note(event: str, _: object) -> None:
    if _active and event in _STARTS:
        _started.append(event)


def pytest_configure(config: pytest.Config) -> None:
    """Watch for child processes where unit tests alone are run: a hook cannot be removed."""
    if config.option.markexpr == "unit":
        sys.addaudithook(_note)
