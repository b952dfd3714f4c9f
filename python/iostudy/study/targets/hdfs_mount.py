"""HDFS that a study mounts, as a study file names it."""

from __future__ import annotations

from iostudy.settings.clusters import hdfs_mount_options
from iostudy.study.targets.hdfs_uri import parse_hdfs_uri
from iostudy.study.targets.mount_request import MountKind


def _check(source: str, options: str) -> None:
    hdfs_mount_options.parse_writable(options)
    if parse_hdfs_uri(source) != source:
        raise ValueError(f"write the URI as {parse_hdfs_uri(source)}")


KIND = MountKind(_check, "iostudy.node.targets.hdfs:prepare_mount")
