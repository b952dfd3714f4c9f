"""Tests of ``get``: readable values, and reasons for the others."""

from __future__ import annotations

import json

import pytest

NOT_THERE = "sysctl.vm.no_such_key"


def test_unreadable_setting_does_not_hide_others(program):
    done = program("get", NOT_THERE, "sysctl.vm.dirty_expire_centisecs")
    assert done.returncode in (2, 3), done.stderr
    assert "sysctl.vm.dirty_expire_centisecs" in done.stdout
    assert NOT_THERE.removeprefix("sysctl.") in done.stderr.replace("/", ".")
    assert "remedy" in done.stderr


def test_readable_settings_are_printed_as_json(program):
    done = program("get", "sysctl.vm.dirty_expire_centisecs", NOT_THERE, "--json")
    assert done.returncode in (2, 3), done.stderr
    assert list(json.loads(done.stdout)) == ["sysctl.vm.dirty_expire_centisecs"]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_shared_reason_is_printed_once(program, form):
    done = program("get", "block.nomerges", "block.scheduler", "--on", "/proc", *form)
    assert done.returncode == 2
    assert done.stderr.count("no block device") == 1
    assert done.stdout == ("{}\n" if form else "")
