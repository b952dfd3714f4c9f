"""Tests of JMX requests over HTTP: timeouts, errors and no proxy."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop import jmx
from iostudy_hadoop.namespace import Address


@contextmanager
def daemon(status, answer):
    calls = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            calls.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def log_message(self, *_):
            return

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Address(f"127.0.0.1:{server.server_port}"), calls
        finally:
            server.shutdown()
            thread.join()


def test_a_bean_s_attributes_and_none_where_there_is_no_such_bean(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with daemon(200, {"beans": [{"Safemode": ""}]}) as (address, requests):
        assert jmx.read_bean(address, "NameNode", "NameNodeInfo") == {"Safemode": ""}
        assert requests == ["/jmx?qry=Hadoop%3Aservice%3DNameNode%2Cname%3DNameNodeInfo"]
    with daemon(200, {"beans": []}) as (address, _):
        assert jmx.read_bean(address, "NameNode", "NameNodeInfo") == {}


def test_a_property_and_none_where_there_is_no_such_property():
    with daemon(200, {"property": {"key": "a", "value": "1"}}) as (address, _):
        assert jmx.read_property(address, "a") == "1"
    with daemon(404, b"Property a not found") as (address, _):
        assert jmx.read_property(address, "a") is None
    hadoop_2_7 = {"properties": [{"key": "b", "value": "2"}, {"key": "a", "value": "1"}]}
    with daemon(200, hadoop_2_7) as (address, _):
        assert jmx.read_property(address, "a") == "1"
        assert jmx.read_property(address, "c") is None


@pytest.mark.parametrize(
    ("status", "answer", "words"), [(500, b"", "HTTP 500"), (200, b"<html>", "JSONDecodeError")]
)
def test_missing_answer_is_an_error(status, answer, words):
    with (
        daemon(status, answer) as (address, _),
        pytest.raises(ClusterError, match=words) as caught,
    ):
        jmx.read_property(address, "a")
    assert caught.value.where.startswith(f"http://{address}/conf")


def test_closed_port_and_silent_server_are_errors(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(jmx, "_LIMIT_SECONDS", 0.2)
        with pytest.raises(ClusterError, match="timed out"):
            jmx.fetch(Address(f"127.0.0.1:{server.getsockname()[1]}"), "/")
    with pytest.raises(ClusterError, match="refused"):
        jmx.fetch(Address("127.0.0.1:1"), "/")
