from __future__ import annotations

import socket
from pathlib import Path

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop.existing import reachability
from iostudy_hadoop.existing.reachability import LivenessCheck, require_listening, require_ticket


def closed_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_any_of_several_namenodes_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        require_listening([closed_port(), f"127.0.0.1:{server.getsockname()[1]}"])


def test_unreachable_server_is_named_with_the_reason() -> None:
    closed = closed_port()
    with pytest.raises(ClusterError) as caught:
        require_listening([closed, "nosuch.invalid:8020"])
    assert f"{closed}: Connection refused" in caught.value.found
    assert "nosuch.invalid:8020: there is no such host" in caught.value.found
    assert "HADOOP_CONF_DIR" in caught.value.remedy


def test_silent_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full queue of connections: the kernel answers nothing more."""
    monkeypatch.setattr(reachability, "_CONNECT_SECONDS", 0.2)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        with socket.create_connection(address), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(address)
            with pytest.raises(ClusterError, match="no answer within"):
                require_listening([f"127.0.0.1:{address[1]}"])


def klist(folder: Path, status: int) -> dict[str, str]:
    program = folder / "klist"
    program.write_text(f'#!/bin/sh\ntest "$1" = -s && exit {status}\n')
    program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


@pytest.mark.child
def test_missing_ticket_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = klist(tmp_path, 1)
    monkeypatch.setenv("PATH", environ["PATH"])
    with pytest.raises(ClusterError, match="kinit"):
        require_ticket(environ)


@pytest.mark.child
def test_a_ticket_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = klist(tmp_path, 0)
    monkeypatch.setenv("PATH", environ["PATH"])
    require_ticket(environ)


@pytest.mark.child
def test_without_klist_the_ticket_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    require_ticket({"PATH": str(tmp_path)})


class FailingProbe:
    def __init__(self, *failures: bool) -> None:
        self.failures = list(failures)

    def __call__(self) -> None:
        if self.failures.pop(0):
            raise ClusterError("a NameNode", found="none", where="nn", remedy="start it")


def test_a_second_failure_in_a_row_counts() -> None:
    pulse = LivenessCheck(FailingProbe(True, False, True, True), every_seconds=0)
    for _ in range(3):
        pulse()
    with pytest.raises(ClusterError):
        pulse()


def test_query_rate_is_limited() -> None:
    pulse = LivenessCheck(FailingProbe(False), every_seconds=600)
    for _ in range(1000):
        pulse()
