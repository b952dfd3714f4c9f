"""An emulated NameNode that listens, and answers over HTTP as a test configures it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from iostudy_hadoop.conf.configuration import SiteFile


class NameNode:
    """``beans`` are its metrics by name, ``conf`` its properties; it is up inside `serving`."""

    def __init__(self) -> None:
        self.beans: dict[str, dict[str, Any]] = {
            "NameNodeInfo": {
                "SoftwareVersion": "3.4.2",
                "Safemode": "",
                "LiveNodes": json.dumps({"a:9866": {}, "b:9866": {}}),
            },
            "FSNamesystem": {"tag.HAState": "active", "PendingDeletionBlocks": 0},
        }
        self.conf: dict[str, str] = {}
        self.address = ""

    def answer(self, path: str) -> tuple[int, Any]:
        query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        if "qry" in query:
            bean = self.beans.get(query["qry"].rpartition("name=")[2])
            return 200, {"beans": [bean] if bean else []}
        if query["name"] in self.conf:
            return 200, {"property": {"key": query["name"], "value": self.conf[query["name"]]}}
        return 404, {}

    @contextmanager
    def serving(self) -> Iterator[NameNode]:
        node = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = node.answer(self.path)
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.address = f"127.0.0.1:{server.server_port}"
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            try:
                yield self
            finally:
                server.shutdown()

    def write_conf(self, folder: Path, **properties: str) -> None:
        """Site files of its cluster: RPC and HTTP at one address, as nobody speaks RPC here."""
        folder.mkdir(exist_ok=True)
        core = {"fs.defaultFS": f"hdfs://{self.address}"}
        hdfs = {"dfs.namenode.http-address": self.address, **properties}
        (folder / "core-site.xml").write_bytes(SiteFile(core).render())
        (folder / "hdfs-site.xml").write_bytes(SiteFile(hdfs).render())
