"""Directory of an existing HDFS that a client on this machine can read, found without a JVM."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.conf.variables import resolve_variables
from iostudy_hadoop.existing.cluster import CONF_DIR, find_namespace, is_kerberized
from iostudy_hadoop.existing.namenodes import locate_hdfs
from iostudy_hadoop.existing.reachability import require_listening, require_ticket
from iostudy_hadoop.namespace import Namespace
from iostudy_hadoop.spec import Properties


@dataclass(frozen=True)
class HdfsDirectory:
    """A directory by its absolute path, and its file system: ``hdfs://HOST:PORT``.

    With High Availability the file system is ``hdfs://NAMESERVICE``. ``namespace`` is that of a
    cluster which iostudy has started on this machine.
    """

    filesystem: str
    path: str
    namespace: Namespace | None = field(default=None, compare=False)

    @property
    def uri(self) -> str:
        """Return the whole URI."""
        return f"{self.filesystem}{self.path}"


def find_directory(uri: str, environ: Mapping[str, str] = os.environ) -> HdfsDirectory:
    """Return the directory of a valid URI; the site files in HADOOP_CONF_DIR may complete it.

    UsageError if no NameNode is named; ClusterError if none answers within seconds, or without a
    Kerberos ticket that the cluster requires.
    """
    conf = environ.get(CONF_DIR)
    properties = _read(conf, environ) if conf else {}
    hdfs = locate_hdfs(uri, properties, conf or f"{CONF_DIR}, which is not set")
    namespace = find_namespace(hdfs, properties)
    require_listening([namenode.rpc for namenode in hdfs.namenodes], namespace)
    if is_kerberized(properties):
        require_ticket(environ)
    parts = urlsplit(hdfs.uri)
    authority = hdfs.namenodes[0].rpc if len(hdfs.namenodes) == 1 else parts.netloc
    return HdfsDirectory(f"hdfs://{authority}", parts.path or "/", namespace)


def _read(conf: str, environ: Mapping[str, str]) -> Properties:
    return resolve_variables(HadoopConfiguration.read(Path(conf)).effective(), environ)
