"""HDFS that a study mounts, as a study file names it."""

from __future__ import annotations

from iostudy.study.targets.target import MountKind
from iostudy_hadoop.hdfs_uri import parse_hdfs_uri
from iostudy_hadoop.mount import options as hdfs_mount_options


def _check(source: str, options: str) -> None:
    hdfs_mount_options.parse_writable(options)
    if parse_hdfs_uri(source) != source:
        raise ValueError(f"write the URI as {parse_hdfs_uri(source)}")


KIND = MountKind(_check, "iostudy_hadoop.service.driver:prepare_mount")
