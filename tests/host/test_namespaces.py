"""Tests of namespaces: alive, ended, or held by a file alone."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.host import namespaces
from iostudy.host.namespaces import (
    Namespace,
    find_process_with_mount,
    is_everything_visible,
)
from tests.attack import in_namespace

pytestmark = pytest.mark.root


@pytest.fixture(autouse=True)
def _sees_all() -> None:
    if not is_everything_visible():
        pytest.skip("needs the first PID namespace")


def test_own_mount_namespace_is_found() -> None:
    own = Namespace.current()
    assert own.process() is not None
    assert not own.is_gone()


def test_a_namespace_ends_with_its_last_process() -> None:
    with in_namespace.kept(lambda: None) as pid:
        namespace = Namespace.from_file(Path(f"/proc/{pid}/ns/mnt"))
        assert namespace != Namespace.current()
        assert namespace.process() == pid
        assert not namespace.is_gone()
    assert namespace.process() is None
    assert namespace.is_gone()


def test_a_network_namespace_ends_with_its_last_process() -> None:
    with in_namespace.kept(lambda: None, in_namespace.NETWORK) as pid:
        namespace = Namespace.from_file(Path(f"/proc/{pid}/ns/net"))
        assert namespace.kind == "net"
        assert namespace != Namespace.current("net")
        assert namespace.process() == pid
        assert not namespace.is_gone()
    assert namespace.is_gone()


def test_a_process_that_ends_while_all_are_listed_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in (1, 2, 3):
        (tmp_path / f"proc/{pid}/task/{pid}/ns").mkdir(parents=True)
        (tmp_path / f"proc/{pid}/task/{pid}/ns/mnt").touch()
    scan = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("2/task"):
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(namespaces, "ROOT", tmp_path)
    monkeypatch.setattr(os, "scandir", scandir)
    assert namespaces.find_process_with_mount("8:1", "ext4", "/dev/sda1") is None
    file = tmp_path / "proc/3/task/3/ns/mnt"
    assert Namespace.from_file(file).process() == 3


def test_open_file_keeps_the_namespace() -> None:
    with in_namespace.kept(lambda: None) as pid:
        namespace = Namespace.from_file(Path(f"/proc/{pid}/ns/mnt"))
        descriptor = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    try:
        assert namespace.process() is None
        assert not namespace.is_gone()
    finally:
        os.close(descriptor)
    assert namespace.is_gone()


def test_bind_mount_keeps_the_namespace(tmp_path: Path) -> None:
    file = tmp_path / "namespace"
    file.touch()
    subprocess.run(["mount", "--bind", tmp_path, tmp_path], check=True)
    try:
        subprocess.run(["mount", "--make-private", tmp_path], check=True)
        with in_namespace.kept(lambda: None) as pid:
            namespace = Namespace.from_file(Path(f"/proc/{pid}/ns/mnt"))
            subprocess.run(["mount", "--bind", f"/proc/{pid}/ns/mnt", file], check=True)
        assert namespace.process() is None
        assert not namespace.is_gone()
        subprocess.run(["umount", file], check=True)
        assert namespace.is_gone()
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_reused_inode_is_another_namespace() -> None:
    own = Namespace.current()
    if not own.unique:
        pytest.skip("this kernel has no number of its own for a namespace")
    assert replace(own, unique=own.unique + 1).process() is None


def test_a_mount_that_another_namespace_has(tmp_path: Path) -> None:
    source = "iostudy-of-another-namespace"

    def act() -> None:
        subprocess.run(["mount", "-t", "tmpfs", source, tmp_path], check=True)
        number = tmp_path.stat().st_dev
        os.write(writer, f"{os.major(number)}:{os.minor(number)}".encode())

    reader, writer = os.pipe()
    with in_namespace.kept(act) as pid:
        device = os.read(reader, 20).decode()
        assert find_process_with_mount(device, "tmpfs", source) == pid
        assert find_process_with_mount(device, "tmpfs", "another") is None
    os.close(reader)
    os.close(writer)
    assert find_process_with_mount(device, "tmpfs", source) is None
