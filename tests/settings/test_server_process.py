"""Tests of the search for servers of file systems."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.settings import server_process


def test_a_process_of_another_user_is_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must neither be killed nor waited for: every user can give a process such arguments."""
    (tmp_path / "123").mkdir()
    (tmp_path / "123/cmdline").write_bytes(b"sleep\0server\0/point\0")
    monkeypatch.setattr(server_process, "_PROC", tmp_path)
    assert server_process.find(("server", "/point")) == (123,)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert server_process.find(("server", "/point")) == ()
    assert not server_process.kill(("server", "/point"))
