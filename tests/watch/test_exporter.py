"""Answers to scrapers, and files for node_exporter in a folder that another user may own."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from iostudy.errors import RecordError
from iostudy.output_file import OutputFile
from iostudy.watch.exporter import LOOPBACK, Server, write_textfile
from tests.watch.test_openmetrics import DEVICES, SAMPLES


class ConstantReader:
    """Has the same counters each time."""

    def now(self):
        return SAMPLES, DEVICES


class InterruptedReader:
    """Is ended by a signal before there are any."""

    def now(self):
        raise KeyboardInterrupt


def test_no_file_that_a_link_of_the_folders_owner_leads_to_is_written(tmp_path):
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / f".a.prom.{os.getpid()}").symlink_to(other)
    write_textfile(ConstantReader(), OutputFile(str(tmp_path / "a.prom")), 0.001, 2)
    assert other.read_text() == "kept"


def test_node_exporter_may_read_it_whatever_the_umask_is(tmp_path):
    path, modes = tmp_path / "a.prom", []

    def look(_: float) -> None:
        modes.extend(each.stat().st_mode & 0o777 for each in tmp_path.iterdir())

    before = os.umask(0o077)
    try:
        write_textfile(ConstantReader(), OutputFile(str(path)), 0.001, 2, look)
    finally:
        os.umask(before)
    assert modes == [0o644]
    assert not path.exists()


def test_a_file_that_was_there_stays_where_nothing_was_written(tmp_path):
    path = tmp_path / "a.prom"
    path.write_text("of another")
    with pytest.raises(KeyboardInterrupt):
        write_textfile(InterruptedReader(), OutputFile(str(path)), 0.001, 1)
    assert path.read_text() == "of another"


def test_missing_folder_is_refused(tmp_path):
    with pytest.raises(RecordError, match="its folder does not exist"):
        write_textfile(ConstantReader(), OutputFile(str(tmp_path / "none" / "a.prom")), 0.001, 1)


class BlockedReader:
    """Has its counters when ``disconnected`` is set."""

    def __init__(self) -> None:
        self.disconnected = threading.Event()

    def now(self):
        self.disconnected.wait()
        return SAMPLES, DEVICES


class FailingReader:
    """Cannot take a sample."""

    def now(self):
        raise RecordError("to read counters", found="none", where="/proc", remedy="mount it")


@contextmanager
def serving(server: Server) -> Iterator[list[BaseException]]:
    """Yield the list of what `Server.serve` raised, complete at the end."""
    raised: list[BaseException] = []

    def serve() -> None:
        try:
            server.serve()
        except RecordError as error:
            raised.append(error)

    before = set(threading.enumerate())
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield raised
    finally:
        server.shutdown()
        for each in set(threading.enumerate()) - before:
            each.join()
        server.server_close()


@pytest.mark.parametrize("path", ["/metrics", "/"])
def test_a_scraper_that_resets_its_connection_leaves_no_trace(path, capfd):
    live = BlockedReader()
    server = Server(live, (LOOPBACK, 0))
    with serving(server):
        for _ in range(20):
            with socket.create_connection(server.server_address) as scraper:
                scraper.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
                scraper.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        live.disconnected.set()
    assert capfd.readouterr() == ("", "")


def test_a_failed_sample_ends_the_server_with_its_error(capfd):
    server = Server(FailingReader(), (LOOPBACK, 0))
    host, port = server.server_address
    with serving(server) as raised, pytest.raises(HTTPError, match="500"):
        urlopen(f"http://{host}:{port}/metrics")
    assert [error.found for error in raised] == ["none"]
    assert capfd.readouterr() == ("", "")


def test_an_error_that_is_not_the_connections_is_raised():
    server = Server(ConstantReader(), (LOOPBACK, 0))
    with server, pytest.raises(RuntimeError, match="new thread"):
        try:
            raise RuntimeError("can't start new thread")
        except RuntimeError:
            server.handle_error(None, None)
