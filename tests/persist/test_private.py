"""Tests of the private copy of /etc: no test changes this host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.persist import private

pytestmark = pytest.mark.root


def test_writes_stay_in_the_private_copy(tmp_path):
    etc = private.copy_etc(tmp_path)
    done = private.run(tmp_path, "touch", "/etc/iostudy-was-here", env=os.environ)
    assert done.returncode == 0, done.stdout
    assert (etc / "iostudy-was-here").exists()
    assert not Path("/etc/iostudy-was-here").exists()


def test_stubbed_mount_does_not_disable_the_private_copy(tmp_path):
    private.copy_etc(tmp_path)
    stub = tmp_path / "bin/mount"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\nexit 0\n")
    stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{stub.parent}:{os.environ['PATH']}"}
    done = private.run(tmp_path, "ls", "-a", "/etc", env=env)
    assert private.MARK in done.stdout.split()


def test_without_the_copy_nothing_is_run(tmp_path):
    (tmp_path / "etc").mkdir()
    done = private.run(tmp_path, "echo", "reached", env=os.environ)
    assert done.returncode != 0
    assert "reached" not in done.stdout
