"""Files in a cluster's HDFS, without a JVM for each: the WebHDFS REST API."""

from __future__ import annotations

import getpass
import json
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from iostudy.hadoop.local.cluster import LocalCluster
from iostudy.hadoop.local.layout import NAMENODE

_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def write(cluster: LocalCluster, path: str, content: bytes) -> None:
    class UnfollowedRedirect(urllib.request.HTTPRedirectHandler):
        """The NameNode names the DataNode that takes the content."""

        def redirect_request(self, req, fp, code, msg, headers, newurl):
            return urllib.request.Request(newurl, data=content, method="PUT")

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), UnfollowedRedirect)
    request = urllib.request.Request(_url(cluster, path, "CREATE"), method="PUT")
    opener.open(request, timeout=30).close()


def read(cluster: LocalCluster, path: str, offset: int = 0, size: int | None = None) -> bytes:
    """Read a file from an offset on, all of it without a size."""
    part = f"&offset={offset}" + ("" if size is None else f"&length={size}")
    with _opener.open(_url(cluster, path, "OPEN") + part, timeout=30) as response:
        found: bytes = response.read()
    return found


def read_pieces(cluster: LocalCluster, path: str, size: int) -> Iterator[bytes]:
    """Read a whole file in pieces of at most this size."""
    with _opener.open(_url(cluster, path, "OPEN"), timeout=30) as response:
        while piece := response.read(size):
            yield piece


def names(cluster: LocalCluster, path: str) -> set[str]:
    """What is in a folder."""
    with _opener.open(_url(cluster, path, "LISTSTATUS"), timeout=30) as response:
        listed = json.load(response)
    return {status["pathSuffix"] for status in listed["FileStatuses"]["FileStatus"]}


def status(cluster: LocalCluster, path: str) -> Mapping[str, Any]:
    """Length, replication and block size of a file, among others."""
    with _opener.open(_url(cluster, path, "GETFILESTATUS"), timeout=30) as response:
        found: Mapping[str, Any] = json.load(response)["FileStatus"]
    return found


def delete(cluster: LocalCluster, path: str) -> None:
    request = urllib.request.Request(_url(cluster, path, "DELETE"), method="DELETE")
    _opener.open(request, timeout=30).close()


def set_mode(cluster: LocalCluster, path: str, mode: str) -> None:
    """Set the permissions, as octal digits."""
    url = f"{_url(cluster, path, 'SETPERMISSION')}&permission={mode}"
    _opener.open(urllib.request.Request(url, method="PUT"), timeout=30).close()


def _url(cluster: LocalCluster, path: str, operation: str) -> str:
    web = cluster.layout.web(NAMENODE)
    return f"http://{web}/webhdfs/v1{quote(path)}?op={operation}&user.name={getpass.getuser()}"
