"""Mounts for tests: file systems on loop devices, in memory, and of a server through FUSE."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures_loop import MIB, loop_disk

SFTP_SERVER = "/usr/lib/openssh/sftp-server"


@contextmanager
def mounted(point: Path, *arguments: str) -> Iterator[Path]:
    """A mount that mount(8) makes."""
    point.mkdir(exist_ok=True)
    subprocess.run(["mount", *arguments, str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=True)


@contextmanager
def loop_mounted(point: Path, filesystem: str, size_bytes: int = 400 * MIB) -> Iterator[Path]:
    """A new file system on a loop device; 400 MiB suffice for xfs."""
    with loop_disk(size_bytes) as name:
        subprocess.run([f"mkfs.{filesystem}", "-q", f"/dev/{name}"], check=True)
        with mounted(point, f"/dev/{name}"):
            yield point


@dataclass(frozen=True)
class Sshfs:
    """A mount of sshfs, and the process that serves it."""

    point: Path
    process: subprocess.Popen[bytes]


@contextmanager
def sftp_server() -> Iterator[int]:
    """A port of 127.0.0.1 at which every connection of sshfs gets a server of this host's files."""
    require_sshfs()
    servers: list[subprocess.Popen[bytes]] = []

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):  # closed at the end
            while True:
                connection, _ = listening.accept()
                with connection:
                    servers.append(
                        subprocess.Popen([SFTP_SERVER], stdin=connection, stdout=connection)
                    )

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for server in servers:
                server.wait()


def require_sshfs() -> None:
    """Skip the test without sshfs and its server."""
    if shutil.which("sshfs") is None or not Path(SFTP_SERVER).exists():
        pytest.skip("needs sshfs and openssh-sftp-server")


@contextmanager
def sshfs_mounted(point: Path, served: Path) -> Iterator[Sshfs]:
    """A folder of this host through sshfs, whose server answers on 127.0.0.1."""
    require_sshfs()
    point.mkdir(exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        source = f"127.0.0.1:{served}"
        command = ["sshfs", "-f", "-o", f"directport={port}", source, str(point)]
        process = subprocess.Popen(command)
        connection, _ = listening.accept()
    with connection:
        server = subprocess.Popen([SFTP_SERVER], stdin=connection, stdout=connection)
    _wait_for_mount(point, process)
    try:
        yield Sshfs(point, process)
    finally:
        subprocess.run(["umount", str(point)], check=True)
        process.wait()
        server.wait()


def _wait_for_mount(point: Path, process: subprocess.Popen[bytes]) -> None:
    while not point.is_mount():
        assert process.poll() is None, "sshfs has ended"
