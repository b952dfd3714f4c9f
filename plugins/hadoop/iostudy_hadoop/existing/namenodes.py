"""NameNode addresses from a URI and the site files of a cluster (pure).

Source: hdfs-default.xml and core-default.xml (Apache Hadoop 3.4.2), and the names of HDFS High
Availability: dfs.nameservices, dfs.ha.namenodes.NAMESERVICE, ...NAMESERVICE.NAMENODE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from iostudy.errors import UsageError
from iostudy_hadoop.spec import Properties

_RPC_PORT = 8020
_WEB_PORTS = (9870, 50070)
"""The defaults of Hadoop 3 and of Hadoop 2."""

_ANY_HOST = ("", "0.0.0.0", "::", "[::]")


@dataclass(frozen=True)
class NameNode:
    """One NameNode: host:port for RPC, and its possible HTTP addresses."""

    rpc: str
    webs: tuple[str, ...]


@dataclass(frozen=True)
class Hdfs:
    """A folder in HDFS, as a full URI without a trailing slash, and its NameNodes.

    With High Availability there are several NameNodes, one of which is active.
    """

    uri: str
    namenodes: tuple[NameNode, ...]


def locate_hdfs(uri: str, properties: Properties, where: str) -> Hdfs:
    """Return the folder that a URI denotes for clients with these properties.

    ``uri`` is valid for a target, and ``where`` names the source of the properties. UsageError
    if the site files do not identify the cluster.
    """
    parsed = urlsplit(uri)
    authority = parsed.netloc or _default_authority(properties, where)
    folder = parsed.path.rstrip("/")
    namenodes = tuple(_namenodes(authority, properties, where))
    return Hdfs(f"hdfs://{authority}{folder}", namenodes)


def _default_authority(properties: Properties, where: str) -> str:
    text = properties.get("fs.defaultFS", properties.get("fs.default.name", "file:///"))
    parts = urlsplit(text)
    if parts.scheme != "hdfs" or not parts.netloc:
        raise UsageError(
            "site files whose default file system is an HDFS",
            found=f"fs.defaultFS is {text}",
            where=where,
            remedy="name the NameNode in the URI, or the folder of the right site files in "
            "HADOOP_CONF_DIR",
        )
    return parts.netloc


def _namenodes(authority: str, properties: Properties, where: str) -> Iterator[NameNode]:
    if authority not in _listed(properties.get("dfs.nameservices", "")):
        yield _namenode(authority, properties, "")
        return
    for identity in _listed(properties.get(f"dfs.ha.namenodes.{authority}", "")) or ("",):
        suffix = "".join(f".{part}" for part in (authority, identity) if part)
        name = f"dfs.namenode.rpc-address{suffix}"
        if name not in properties:
            raise UsageError(
                f"the NameNodes of the nameservice {authority}",
                found=f"{name} is not set",
                where=where,
                remedy="use the cluster's own hdfs-site.xml, whole",
            )
        yield _namenode(properties[name], properties, suffix)


def _namenode(rpc: str, properties: Properties, suffix: str) -> NameNode:
    host, port = _host_and_port(rpc, _RPC_PORT)
    web = properties.get(f"dfs.namenode.http-address{suffix}")
    if web is None:
        return NameNode(f"{host}:{port}", tuple(f"{host}:{web_port}" for web_port in _WEB_PORTS))
    web_host, web_port = _host_and_port(web, _WEB_PORTS[0])
    if web_host in _ANY_HOST:
        web_host = host
    return NameNode(f"{host}:{port}", (f"{web_host}:{web_port}",))


def _host_and_port(text: str, default: int) -> tuple[str, int]:
    host, colon, port = text.strip().rpartition(":")
    if not colon or not port.isdecimal():
        return text.strip(), default
    return host, int(port)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
