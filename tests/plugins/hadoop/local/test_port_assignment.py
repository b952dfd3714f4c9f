"""Ports that properties fix are taken, and all others are free ones."""

from __future__ import annotations

import os
import socket
from dataclasses import replace

import pytest

from iostudy.errors import ClusterError, UsageError
from iostudy_hadoop.local import port_assignment, ports
from tests.plugins.hadoop.clusters import layout

RPC = "dfs.namenode.rpc-address"


def test_every_address_gets_a_port_of_its_own():
    chosen = port_assignment.assign_ports(layout(datanodes=2, yarn=True))
    assert chosen.keys() == layout(datanodes=2, yarn=True).ports.keys()
    numbers = [port for each in chosen.values() for port in each.values()]
    assert len(set(numbers)) == len(numbers)


def test_a_fixed_port_is_taken_and_given_to_nobody_else(monkeypatch):
    (fixed,) = ports.free(1)
    monkeypatch.setattr(ports, "free", lambda count: tuple(range(fixed, fixed + count)))
    chosen = port_assignment.assign_ports(layout(properties={RPC: f"localhost:{fixed}"}))
    numbers = [port for each in chosen.values() for port in each.values()]
    assert chosen["namenode"][RPC] == fixed
    assert numbers.count(fixed) == 1
    assert (
        port_assignment.assign_ports(layout(properties={RPC: "127.0.0.1:0"}))["namenode"][RPC] != 0
    )


def test_a_port_in_use_on_the_host_is_refused_unless_the_daemons_have_a_namespace():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        on_host = layout(properties={RPC: f"localhost:{port}"})
        assert port_assignment.assign_ports(on_host)["namenode"][RPC] == port
        port_assignment.require_free(replace(on_host, uid=os.geteuid()))
        with pytest.raises(ClusterError, match="listens there") as caught:
            port_assignment.require_free(on_host)
    assert caught.value.wanted == f"the namenode ({RPC}) on port {port}"
    port_assignment.require_free(on_host)


def test_two_addresses_of_one_port_are_refused():
    properties = {RPC: "127.0.0.1:9000", "dfs.datanode.address": "localhost:9000"}
    with pytest.raises(UsageError, match="another address has that port"):
        port_assignment.assign_ports(layout(properties=properties))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (RPC, "0.0.0.0:9000", "no other address"),
        (RPC, "namenode:9000", "no other address"),
        (RPC, "127.0.0.1", "no other address"),
        (RPC, "127.0.0.1:70000", "no other address"),
        ("mapreduce.shuffle.port", "x", "no other address"),
        ("dfs.datanode.address", "127.0.0.1:9866", "one port for 2 daemons"),
    ],
)
def test_other_addresses_are_refused(name, value, words):
    with pytest.raises(UsageError, match=words):
        port_assignment.assign_ports(layout(datanodes=2, yarn=True, properties={name: value}))
