"""Tests of the search for servers of file systems."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.settings import server_process
from tests.host.test_users_and_locks import write_users


def test_a_process_of_another_user_is_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must neither be killed nor waited for: every user can give a process such arguments."""
    user, process = os.geteuid(), tmp_path / "123"
    process.mkdir()
    (process / "cmdline").write_bytes(b"sleep\0server\0/point\0")
    (process / "exe").touch()
    monkeypatch.setattr(server_process, "_PROC", tmp_path)
    write_users(process, *[user] * 4)
    assert server_process.find(("server", "/point")) == (123,)
    write_users(process, user + 1, user, user, user)
    assert server_process.find(("server", "/point")) == ()
    assert not server_process.kill(("server", "/point"))
