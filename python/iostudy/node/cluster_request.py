"""Which cluster a target means: one of the study's own on this machine, or one that is there."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from iostudy.hadoop.command import Tell, nobody
from iostudy.hadoop.existing import cluster as existing
from iostudy.hadoop.existing.cluster import ExistingCluster
from iostudy.hadoop.local.cluster import LocalCluster
from iostudy.hadoop.software import artifacts, java
from iostudy.hadoop.spec import ClusterSpec
from iostudy.node.clusters import ClusterChange, ClusterRequest
from iostudy.settings.clusters.existing import HdfsFolder
from iostudy.settings.clusters.local import StartedCluster
from iostudy.study.targets import (
    DirectoryTarget,
    HdfsTarget,
    LoopbackTarget,
    ScratchTarget,
    Target,
)

_OWN = "cluster"


def ordered(
    target: Target, spec: ClusterSpec, *, logs: Path | None = None, tell: Tell = nobody
) -> ClusterRequest:
    """The cluster of a study on that target, with all that it takes at hand.

    Conf and logs are kept in the folder ``logs``, or go with the study's other files. ``tell``
    hears what is fetched and started. UsageError where Java or Hadoop is missing, ClusterError
    where a cluster that is there does not answer.
    """
    match target:
        case DirectoryTarget() | LoopbackTarget() | ScratchTarget():
            return _started(spec, logs, tell)
        case HdfsTarget(uri):
            return _existing(uri, spec, logs, tell)
        case unreachable:
            assert_never(unreachable)


def _started(spec: ClusterSpec, logs: Path | None, tell: Tell) -> ClusterRequest:
    distribution = artifacts.distribution(spec.version, tell=tell)
    program = java.find(distribution.version)

    def make(work: Path, tell: Tell) -> ClusterChange:
        cluster = LocalCluster.prepare(
            spec,
            home=logs or work / _OWN,
            storage=work,
            java=program,
            distribution=distribution,
        )
        return StartedCluster(cluster, tell)

    return ClusterRequest(spec, make, tell)


def _existing(uri: str, spec: ClusterSpec, logs: Path | None, tell: Tell) -> ClusterRequest:
    access = existing.find(uri, tell=tell)

    def make(work: Path, _: Tell) -> ClusterChange:
        cluster = ExistingCluster(access, logs or work / _OWN, spec.properties)
        return HdfsFolder.prepare(cluster)

    return ClusterRequest(spec, make, tell)
