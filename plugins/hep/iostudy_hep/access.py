"""Ways to read a file."""

from __future__ import annotations

from enum import StrEnum


class Access(StrEnum):
    """How a file is read: by the file system, or on a mount of HDFS by the interface of HDFS."""

    FILE = "file"
    HDFS = "hdfs"
