"""More open files than the limit allows are told before, with what to do."""

from __future__ import annotations

import resource

import pytest

from iostudy.errors import UsageError
from iostudy.workloads.descriptors import require_descriptors

INFINITE = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("limits", "remedy"),
    [
        ((100, 1000), r"raise it \(ulimit -n \d+\), or give"),
        ((100, 100), "remedy: give fewer jobs"),
    ],
)
def test_more_than_the_limit_is_refused(monkeypatch, limits, remedy):
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    with pytest.raises(UsageError, match=remedy):
        require_descriptors(90, "jobs")
    require_descriptors(1, "jobs")


def test_without_a_limit_nothing_is_too_many(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (INFINITE, INFINITE))
    require_descriptors(10**9, "jobs")
