"""Tests of free ports, and of the error that names the holder of a used one."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop.local import ports


def test_free_ports_are_different_and_no_outgoing_connection_takes_them():
    found = ports.free(200)
    assert len(set(found)) == 200
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert not [port for port in found if low <= port <= high]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_listening_port_is_reported_with_its_owner(host):
    with socket.create_server((host, 0)) as server:
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        with pytest.raises(ClusterError, match=rf"\(pid {os.getpid()}\)") as caught:
            ports.require_free("the namenode", port)
        assert caught.value.where == f"127.0.0.1:{port}"
    ports.require_free("the namenode", port)


def test_hidden_owner_of_a_port_is_not_guessed(monkeypatch):
    monkeypatch.setattr(ports, "_listening", lambda _: set())
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(ClusterError, match="this user cannot see"),
    ):
        ports.require_free("the namenode", server.getsockname()[1])


def test_port_in_time_wait_is_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()
        client.close()
    assert ports.is_free(port)


def test_too_few_ports_are_an_error(monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda port: port == 10_001)
    with pytest.raises(ClusterError, match="1 from 10000 to 65535"):
        ports.free(2)
