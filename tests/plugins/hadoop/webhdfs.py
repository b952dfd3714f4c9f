"""Files in a cluster's HDFS, without a JVM for each: the WebHDFS REST API."""

from __future__ import annotations

import getpass
import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.local.layout import NAMENODE
from iostudy_hadoop.namespace import Address

_LIMIT_SECONDS = 120.0


def write(cluster: LocalCluster, path: str, content: bytes) -> None:
    with _answer(cluster, "PUT", path, "CREATE", content=content):
        pass


def read(cluster: LocalCluster, path: str, offset: int = 0, size: int | None = None) -> bytes:
    """Read a file from an offset on, all of it without a size."""
    part = f"&offset={offset}" + ("" if size is None else f"&length={size}")
    with _answer(cluster, "GET", path, f"OPEN{part}") as response:
        return response.read()


def read_pieces(cluster: LocalCluster, path: str, size: int) -> Iterator[bytes]:
    """Read a whole file in pieces of at most this size."""
    with _answer(cluster, "GET", path, "OPEN") as response:
        while piece := response.read(size):
            yield piece


def names(cluster: LocalCluster, path: str) -> set[str]:
    """What is in a folder."""
    with _answer(cluster, "GET", path, "LISTSTATUS") as response:
        listed = json.load(response)
    return {status["pathSuffix"] for status in listed["FileStatuses"]["FileStatus"]}


def status(cluster: LocalCluster, path: str) -> Mapping[str, Any]:
    """Length, replication and block size of a file, among others."""
    with _answer(cluster, "GET", path, "GETFILESTATUS") as response:
        found: Mapping[str, Any] = json.load(response)["FileStatus"]
    return found


def delete(cluster: LocalCluster, path: str) -> None:
    """Delete a file, or a folder with its content."""
    with _answer(cluster, "DELETE", path, "DELETE&recursive=true"):
        pass


def set_mode(cluster: LocalCluster, path: str, mode: str) -> None:
    """Set the permissions, as octal digits."""
    with _answer(cluster, "PUT", path, f"SETPERMISSION&permission={mode}"):
        pass


@contextmanager
def _answer(
    cluster: LocalCluster, method: str, path: str, operation: str, content: bytes | None = None
) -> Iterator[http.client.HTTPResponse]:
    """The answer of the NameNode, or of the DataNode that it names for the content of a file."""
    web = cluster.layout.web(NAMENODE)
    part, question, options = path.partition("&")
    target = (
        f"/webhdfs/v1{quote(part)}?op={operation}&user.name={getpass.getuser()}{question}{options}"
    )
    with _request(web, method, target) as response:
        if response.status == http.client.TEMPORARY_REDIRECT:
            elsewhere = urlsplit(response.headers["Location"])
            address = Address(elsewhere.netloc, web.namespace)
            with _request(address, method, f"{elsewhere.path}?{elsewhere.query}", content) as final:
                yield final
        else:
            yield response


@contextmanager
def _request(
    address: Address, method: str, target: str, content: bytes | None = None
) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(str(address))
    connection.sock = address.connect(_LIMIT_SECONDS)
    try:
        connection.request(method, target, content)
        with connection.getresponse() as response:
            assert response.status < http.client.BAD_REQUEST, response.read()
            yield response
    finally:
        connection.close()
