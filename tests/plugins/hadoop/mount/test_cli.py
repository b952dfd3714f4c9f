"""Requests of ``iostudy mount`` that are refused before anything is mounted."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy_hadoop.mount import cli as command
from iostudy_hadoop.mount import mounted as hdfs_mount
from tests.cli.program import Program
from tests.mounts import mounted


@pytest.fixture
def able(monkeypatch):
    """As root on a kernel with FUSE, where the program is installed."""
    monkeypatch.setattr(command, "require_fuse", lambda: None)
    monkeypatch.setattr(command, "find_program", lambda: Path("/bin/true"))


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"hdfs://127.0.0.1:{server.getsockname()[1]}/"


def refused(program: Program, *arguments: str) -> str:
    done = program("mount", *arguments)
    assert done.returncode in (2, 3), done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("file:///x", "mnt"), "write hdfs://HOST:PORT/FOLDER"),
        (("hdfs://h:1/a/../b", "mnt"), "neither . nor .."),
        (("hdfs://h:1/", "mnt", "--rdbuffer", "many"), "not a size"),
        (("hdfs://h:1/", "mnt", "--entry-timeout", "1 week"), "not a time"),
        (("hdfs:///", "mnt"), "HADOOP_CONF_DIR"),
        (("hdfs://h:1/", "mnt", "--replication", "2"), "replication is an option of new files"),
        (("hdfs://h:1/", "mnt", "--block-size", "1MiB"), "block_size is an option of new files"),
        (("hdfs://h:1/", "mnt", "--writable", "--block-size", "1000"), "no multiple of 512 B"),
    ],
)
def test_invalid_requests(program, able, monkeypatch, arguments, message):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    program.env.pop("HADOOP_CONF_DIR", None)
    (program.folder / "mnt").mkdir()
    assert message in refused(program, *arguments)


def test_a_namenode_that_does_not_answer_is_named(program, able):
    (program.folder / "mnt").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    stderr = refused(program, f"hdfs://127.0.0.1:{port}/", "mnt")
    assert "a NameNode that answers" in stderr
    assert f"127.0.0.1:{port}: Connection refused" in stderr


def test_the_mount_point_is_an_empty_directory(program, able, listening):
    assert "No such file" in refused(program, listening, "absent")
    (program.folder / "full").mkdir()
    (program.folder / "full/file").touch()
    assert "files are in it" in refused(program, listening, "full")
    assert "Not a directory" in refused(program, listening, "full/file")


@pytest.mark.root
@pytest.mark.child
def test_the_mount_point_is_no_mount(program, able, listening):
    with mounted(program.folder / "mnt", "-t", "tmpfs", "-o", "mode=700", "none") as point:
        assert "it is a mount point" in refused(program, listening, str(point))


def test_a_missing_program_is_named_with_its_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(hdfs_mount.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(hdfs_mount.commands, "SEARCH_PATH", str(tmp_path))
    with pytest.raises(TargetError, match="make hdfs"):
        hdfs_mount.find_program()


def test_a_kernel_without_fuse_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(hdfs_mount.os, "geteuid", lambda: 0)
    monkeypatch.setattr(hdfs_mount, "_FUSE", tmp_path / "fuse")
    with pytest.raises(TargetError, match="modprobe fuse"):
        hdfs_mount.require_fuse()


def test_only_root_mounts(monkeypatch):
    monkeypatch.setattr(hdfs_mount.os, "geteuid", lambda: 1000)
    with pytest.raises(TargetError, match="run it as root"):
        hdfs_mount.require_fuse()
