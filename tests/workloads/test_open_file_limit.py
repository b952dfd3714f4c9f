"""Tests of the limit on open files: an error before the run, with a remedy."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from iostudy.errors import UsageError, WorkloadError
from iostudy.workloads import open_file_limit

INFINITE = resource.RLIM_INFINITY
HERE = Path("here")


@pytest.mark.parametrize(
    ("user", "limits", "remedy"),
    [
        (1000, (100, 200), r"raise the hard limit \(ulimit -Hn, limits.conf\) to \d+, or give"),
        (0, (100, 200), r"raise fs.nr_open to \d+, or give fewer jobs"),
    ],
)
def test_more_files_than_the_hard_limit_are_refused_beforehand(
    user, limits, remedy, monkeypatch, tmp_path
):
    monkeypatch.setattr(open_file_limit, "_MOST", tmp_path / "nr_open")
    (tmp_path / "nr_open").write_text("300\n")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    open_file_limit.refuse_impossible(100, "jobs")
    with pytest.raises(UsageError, match=remedy):
        open_file_limit.refuse_impossible(270, "jobs")


def test_more_files_than_the_soft_limit_are_refused_at_the_start(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 1000))
    open_file_limit.require(1, "jobs", HERE)
    with pytest.raises(WorkloadError, match=r"ulimit -n \d+; in a study the factor limit.nofile_"):
        open_file_limit.require(90, "jobs", HERE)


def test_without_a_limit_nothing_is_too_many(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (INFINITE, INFINITE))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    open_file_limit.require(10**9, "jobs", HERE)
    open_file_limit.refuse_impossible(10**9, "jobs")


def test_a_preparation_has_all_that_is_allowed_and_puts_it_back():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.raises(ZeroDivisionError), open_file_limit.raise_soft_limit():
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
        raise ZeroDivisionError
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
