"""Exports metrics over HTTP, or to a file for node_exporter."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET6
from socketserver import TCPServer
from typing import Any

from prometheus_client.exposition import choose_encoder, generate_latest

from iostudy.errors import UsageError
from iostudy.output_file import OutputFile
from iostudy.settings.transaction.deferred_signals import defer_signals
from iostudy.watch.live import Live, next_due
from iostudy.watch.openmetrics import LastSample

LOOPBACK = "127.0.0.1"
PATH = "/metrics"
_READ_TIMEOUT_SECONDS = 10
_format_openmetrics, _MEDIA_TYPE = choose_encoder("application/openmetrics-text")


def address(text: str) -> tuple[str, int]:
    """Parse ``PORT``, on the loopback interface, or ``HOST:PORT``; UsageError otherwise."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(
            "an address to listen on",
            found=text,
            where="--listen",
            remedy=f"give a port (9150: {LOOPBACK}:9150), or HOST:PORT for another interface",
        )
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


class Server(ThreadingHTTPServer):
    """Answers ``GET /metrics`` with the counters of that moment, and all else with 404."""

    daemon_threads = True

    def __init__(self, live: Live, where: tuple[str, int]) -> None:
        self._live, self._lock = live, threading.Lock()
        self._failure: BaseException | None = None
        if ":" in where[0]:
            self.address_family = AF_INET6
        try:
            super().__init__(where, _MetricsHandler)
        except OSError as error:
            raise UsageError(
                "to listen",
                found=error.strerror or str(error),
                where=f"--listen {where[0]}:{where[1]}",
                remedy="give an address of this machine and an unused port",
            ) from error

    def serve(self) -> None:
        """Answer until a signal arrives. An error of a sample ends it and is raised here."""
        self.serve_forever()
        if self._failure is not None:
            raise self._failure

    def metrics(self) -> bytes | None:
        """Take a sample and return the document; None if that failed, which ends `serve`."""
        try:
            with self._lock:
                samples, devices = self._live.now()
        except BaseException as error:  # noqa: BLE001 - `serve` raises it in the main thread
            self._failure = error
            self.shutdown()
            return None
        return _format_openmetrics(LastSample(samples, devices))

    def handle_error(self, *_: Any) -> None:
        """Ignore a connection that its client closed; raise anything else."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            raise error

    def server_bind(self) -> None:
        """Bind without http.server's query of the name service for this machine's name."""
        TCPServer.server_bind(self)

    def server_close(self) -> None:
        """Close, and keep the lock: no thread may sample while the interpreter ends."""
        super().server_close()
        self._lock.acquire()


class _MetricsHandler(BaseHTTPRequestHandler):
    """The handler of prometheus_client answers any path, and fails on a malformed Accept header."""

    server: Server
    timeout = _READ_TIMEOUT_SECONDS

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != PATH:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        content = self.server.metrics()
        if content is None:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _MEDIA_TYPE)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Log nothing: a scrape every few seconds is no news."""


def write_textfile(
    live: Live,
    file: OutputFile,
    interval: float,
    count: int | None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Write the metrics atomically to ``file`` every ``interval`` seconds.

    The file is removed at the end, even after an error, so that no outdated values are scraped.
    RecordError if it cannot be written.
    """
    is_written = False
    due = time.monotonic()
    try:
        while count is None or count > 0:
            due = next_due(due, interval, time.monotonic())
            sleep(max(0.0, due - time.monotonic()))
            samples, devices = live.now()
            with defer_signals():
                file.refresh(generate_latest(LastSample(samples, devices)))
                is_written = True
            count = None if count is None else count - 1
    finally:
        if is_written:
            file.path.unlink(missing_ok=True)
