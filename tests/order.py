"""Order of tests side by side: each worker begins with tests that wait, and ends with unit tests.

pytest-xdist gives each worker a piece of the list. A worker that has none left takes tests from the
end of another's piece. So the tests of one resource begin a piece, and no worker waits for another.
Other tests of the host begin the other pieces. Unit tests are left for all processors at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from tests.shared_resources import find_resources

HOST, UNIT = "", "unit"
"""Kinds of tests that use no resource alone."""

Test = TypeVar("Test")


@pytest.hookimpl(trylast=True)  # when ``-m`` has selected
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests of this worker; all workers have the same list."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = order(items, workers, _find_kind)


def order(tests: Sequence[Test], workers: int, find_kind: Callable[[Test], str]) -> list[Test]:
    """Return the tests piece by piece; a kind is a resource or one of `HOST` and `UNIT`."""
    kinds: dict[str, list[Test]] = {HOST: [], UNIT: []}
    for test in tests:
        kinds.setdefault(find_kind(test), []).append(test)
    host, unit = kinds.pop(HOST), kinds.pop(UNIT)
    pieces: list[list[Test]] = [[] for _ in range(workers)]
    for number, kind in enumerate(sorted(kinds)):
        pieces[number % workers] += kinds[kind]
    free = [piece for piece in pieces if not piece] or pieces
    for left, piece in zip(range(len(free), 0, -1), free, strict=True):
        piece.extend(_take(host, len(host) // left))
    rest, size = [*host, *unit], len(tests)
    for left, piece in zip(range(workers, 0, -1), pieces, strict=True):
        piece.extend(_take(rest, size // left - len(piece)))
        size -= len(piece)
    return [test for piece in pieces for test in piece]


def _take(tests: list[Test], count: int) -> list[Test]:
    """Remove and return so many of the first tests."""
    taken = tests[: max(count, 0)]
    del tests[: max(count, 0)]
    return taken


def _find_kind(test: pytest.Item) -> str:
    held = find_resources(test)
    return min(held) if held else UNIT if test.get_closest_marker("unit") else HOST
