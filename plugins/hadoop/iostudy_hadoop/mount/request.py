"""HDFS and other file systems that a study mounts, as a study file names them."""

from __future__ import annotations

from iostudy.study.targets.target import MountKind
from iostudy_hadoop.hdfs_uri import parse_hdfs_uri
from iostudy_hadoop.mount.options import parse_writable

_DRIVER = "iostudy_hadoop.service.driver"
_SSHFS = "iostudy_hadoop.mount.local_sshfs"


def _check(source: str, options: str) -> None:
    parse_writable(options)
    if parse_hdfs_uri(source) != source:
        raise ValueError(f"write the URI as {parse_hdfs_uri(source)}")


def _check_local(source: str, options: str) -> None:
    del source
    parse_writable(options)


def _refuse_options(source: str, options: str) -> None:
    if options:
        raise ValueError(f"a mount of {source} has no options; leave them out")


KIND = MountKind(_check, f"{_DRIVER}:find_mount", f"{_DRIVER}:prepare_mount")
LOCAL_KIND = MountKind(
    _check_local, f"{_DRIVER}:require_local_mount", f"{_DRIVER}:prepare_local_mount", is_local=True
)
SSHFS_KIND = MountKind(
    _refuse_options,
    f"{_SSHFS}:require_local_sshfs",
    f"{_SSHFS}:prepare_local_sshfs",
    is_local=True,
)
