"""HDFS that a study mounts, as a study file names it."""

from __future__ import annotations

from iostudy.study.targets.target import MountKind
from iostudy_hadoop.hdfs_uri import parse_hdfs_uri
from iostudy_hadoop.mount.options import parse_writable

LOCAL = "local-hdfs"
"""The HDFS of a cluster that the study starts on this machine, in place of a URI."""


def _check(source: str, options: str) -> None:
    parse_writable(options)
    if source != LOCAL and parse_hdfs_uri(source) != source:
        raise ValueError(f"write the URI as {parse_hdfs_uri(source)}")


KIND = MountKind(_check, "iostudy_hadoop.service.driver:prepare_mount")
LOCAL_KIND = MountKind(_check, "iostudy_hadoop.service.driver:prepare_local_mount")
