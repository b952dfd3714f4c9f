"""Target that is a folder in HDFS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from iostudy.plugins import Ref
from iostudy.study.targets.target import Target, TargetKey
from iostudy_hadoop.hdfs_uri import parse_hdfs_uri


@dataclass(frozen=True)
class HdfsTarget(Target):
    """A folder in the HDFS of a cluster that is there; the study works in one of its own below it.

    ``uri`` is such as ``hdfs://namenode:8020/bench``, or ``hdfs:///bench`` for the cluster that the
    site files in ``HADOOP_CONF_DIR`` call the default.
    """

    driver: ClassVar[Ref] = "iostudy_hadoop.service.driver:HdfsDriver"
    why_untraced: ClassVar[str] = (
        "the target is no disk of this machine, and has no request to trace; leave it out"
    )
    why_unlimited: ClassVar[str] = (
        "the disks of a target in HDFS are not this host's; limit its DataNodes instead"
    )

    uri: str

    @classmethod
    def parse(cls, text: str) -> HdfsTarget:
        """Parse the URI of a folder; ValueError says what is wrong with it."""
        uri = parse_hdfs_uri(text)
        if uri.endswith("/"):
            raise ValueError("name a folder in which the study may work, not all of HDFS")
        return cls(uri)

    def describe(self) -> str:
        return f"a folder in {self.uri}"

    def describe_changes(self) -> tuple[str, ...]:
        return (f"a folder in {self.uri}, removed at the end",)

    @property
    def cluster_uri(self) -> str:
        return self.uri

    def without_place(self) -> Target:
        return replace(self, uri="")

    def rewritten(self, original: Any, folder: str) -> Any:
        del original, folder
        return self.uri


KEY = TargetKey(parse=HdfsTarget.parse)
