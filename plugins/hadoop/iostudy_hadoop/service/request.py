"""Cluster of a target: a local one for the study, or an existing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from iostudy.line_handler import LineHandler, ignore_line
from iostudy.node.service import ServiceDefinition
from iostudy.study.combinations import Factor
from iostudy.study.targets.target import Target
from iostudy_hadoop.existing import cluster as existing
from iostudy_hadoop.existing.cluster import ExistingCluster
from iostudy_hadoop.hdfs_folder import HdfsFolder
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.service.clusters import ClusterChange, ClusterRequest, needs_restarts
from iostudy_hadoop.software import artifacts, java
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.started_cluster import StartedCluster

CLUSTER_FOLDER = "cluster"
"""The folder of its configuration and logs, in the working folder of the study."""


def build_cluster_request(
    target: Target,
    spec: ClusterSpec,
    factors: Sequence[Factor],
    *,
    logs: Path | None = None,
    on_progress: LineHandler = ignore_line,
) -> ClusterRequest:
    """Build the request for the cluster of a study on this target, with all software present.

    Configuration and logs go to the folder ``logs``, or are removed with the study's other files.
    Downloads and starts are reported through the callback. UsageError if Java or Hadoop is missing,
    ClusterError if an existing cluster does not answer.
    """
    build = partial(_existing, target.cluster_uri) if target.cluster_uri else _started
    request = build(spec, logs, on_progress)
    return replace(request, restarts=needs_restarts(target, factors))


def find_software(spec: ClusterSpec, on_progress: LineHandler) -> Callable[..., LocalCluster]:
    """Find Hadoop and Java; return `LocalCluster.prepare` without ``home`` and ``storage``.

    Hadoop is downloaded where it is missing. UsageError if that is impossible.
    """
    distribution = artifacts.distribution(spec.version, on_progress=on_progress)
    program = java.find_java(distribution.version)
    return partial(LocalCluster.prepare, spec, java=program, distribution=distribution)


def _started(spec: ClusterSpec, logs: Path | None, on_progress: LineHandler) -> ClusterRequest:
    prepare = find_software(spec, on_progress)

    def make(work: Path, on_progress: LineHandler) -> ClusterChange:
        cluster = prepare(home=logs or work / CLUSTER_FOLDER, storage=work)
        return StartedCluster(cluster, on_progress)

    return ClusterRequest(spec, make, on_progress)


def _existing(
    uri: str, spec: ClusterSpec, logs: Path | None, on_progress: LineHandler
) -> ClusterRequest:
    access = existing.find(uri, on_progress=on_progress)

    def make(work: Path, _: LineHandler) -> ClusterChange:
        cluster = ExistingCluster(access, logs or work / CLUSTER_FOLDER, spec.properties)
        return HdfsFolder.prepare(cluster)

    return ClusterRequest(spec, make, on_progress, is_own=False)


SERVICE = ServiceDefinition(build_cluster_request, needs_restarts)
