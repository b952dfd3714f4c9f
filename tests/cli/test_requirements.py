"""Tests of limits of the process: reported before they end it without a message."""

from __future__ import annotations

import resource
import sys
import threading
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from iostudy.cli import main
from iostudy.cli.commands import all_commands
from iostudy.errors import ResourceError, UsageError

ROOM = 64 << 30


ANALYZES = [
    *("bench", "compare", "persist", "power", "report", "report-study", "run", "selftest"),
    *("simulate", "try"),
]


@pytest.mark.all_plugins
def test_the_flags_of_commands():
    flags = {
        flag: sorted(each.name for each in all_commands() if getattr(each, flag))
        for flag in ("analyzes", "changes_host", "restores")
    }
    assert flags["analyzes"] == ANALYZES
    assert flags["changes_host"] == ["bench", "mount", "power", "run", "selftest", "set"]
    assert flags["restores"] == ["drive", "hadoop", "report-study", "restore", "try"]


@pytest.mark.parametrize("command", [name for name in ANALYZES if name != "simulate"])
def test_too_little_address_space_is_refused(monkeypatch, command):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 30, 1 << 30))
    with pytest.raises(ResourceError, match="a limit of 1024 MiB"):
        begin(command)


def begin(command, *arguments):
    """What precedes a command of these arguments."""
    with patch.object(sys, "argv", ["iostudy", command, *arguments]):
        main.before_every_command(SimpleNamespace(invoked_subcommand=command))


def test_too_few_threads_are_refused_and_none_is_left(monkeypatch):
    start, calls = threading.Thread.start, []

    def refuse_the_fourth(thread: threading.Thread) -> None:
        calls.append(thread)
        if len(calls) > 3:
            raise RuntimeError("can't start new thread")
        start(thread)

    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", refuse_the_fourth)
    with pytest.raises(ResourceError, match="3 could be started"):
        main.require_resources()
    assert threading.active_count() == before


@pytest.mark.parametrize("limit", [ROOM, resource.RLIM_INFINITY])
def test_sufficient_address_space_is_accepted(monkeypatch, limit):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    main.require_resources()


@pytest.mark.parametrize("command", ["settings", "restore", "doctor", None])
def test_other_commands_do_not_check_address_space(monkeypatch, command):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    begin(command)


def test_the_command_of_watch_may_hold_any_bytes():
    begin("doctor", "\udcff")
    with pytest.raises(UsageError, match=r"b?'\\xff'"):
        begin("run", "\udcff")
