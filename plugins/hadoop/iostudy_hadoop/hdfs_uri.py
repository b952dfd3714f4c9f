"""URIs of folders in HDFS."""

from __future__ import annotations

import re

_LARGEST_PORT = (1 << 16) - 1


def parse_hdfs_uri(text: str) -> str:
    """The URI of a folder in HDFS, without repeated slashes; only that of the root ends with one.

    ValueError says what is wrong with it.
    """
    match = re.fullmatch(r"hdfs://([^/?#]*)/*([^?#]*)", text.strip())
    if match is None:
        raise ValueError("write hdfs://HOST:PORT/FOLDER, without a query or a fragment")
    authority, path = match[1], match[2].rstrip("/")
    _refuse_authority(authority)
    for part in re.split("/+", path) if path else ():
        if part in (".", "..") or not re.fullmatch(r"[\w.+=@-]+", part):
            message = "a folder's path has letters, digits and . _ + = @ - between slashes"
            raise ValueError(f"{message}, and neither . nor ..")
    return f"hdfs://{authority}/{re.sub('/+', '/', path)}"


def _refuse_authority(authority: str) -> None:
    host, colon, port = authority.partition(":")
    right = re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?", host)
    numbered = re.fullmatch(r"\d{1,5}", port, re.ASCII) and 0 < int(port) <= _LARGEST_PORT
    if not right or (colon and not (host and numbered)):
        raise ValueError(
            f"{authority} is no HOST:PORT of a name-node and no name of a name service; leave it "
            "out for the cluster that HADOOP_CONF_DIR names"
        )
