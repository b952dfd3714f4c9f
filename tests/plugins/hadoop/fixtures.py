"""Hadoop for the tests that run it, found once and started once; without, these are skipped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.software import artifacts
from iostudy_hadoop.software import java as java_programs
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java
from iostudy_hadoop.spec import ClusterSpec


@pytest.fixture(scope="session")
def distribution():
    """That of Maven, so that the tests find the same everywhere."""
    environ = {name: value for name, value in os.environ.items() if name != "HADOOP_HOME"}
    try:
        return artifacts.distribution(environ=environ)
    except UsageError as error:
        pytest.skip(f"needs Hadoop: {error.found}")


@pytest.fixture(scope="session")
def java(distribution):
    try:
        return java_programs.find_java(distribution.version)
    except UsageError as error:
        pytest.skip(f"needs Java for Hadoop: {error.found}")


MakeCluster = Callable[..., LocalCluster]


@pytest.fixture
def new_cluster(tmp_path, java, distribution) -> Iterator[MakeCluster]:
    """Makes clusters that are not started yet; all are stopped at the end."""
    made = []

    def make(**spec: object) -> LocalCluster:
        storage = tmp_path / f"storage{len(made)}"
        storage.mkdir()
        cluster = LocalCluster.prepare(
            ClusterSpec(**spec),
            home=tmp_path / f"home{len(made)}",
            storage=storage,
            java=java,
            distribution=distribution,
        )
        made.append(cluster)
        return cluster

    yield make
    for cluster in made:
        cluster.stop()


@contextmanager
def running_cluster(
    folder: Path, spec: ClusterSpec, java: Java, distribution: Distribution
) -> Iterator[LocalCluster]:
    """A cluster that runs until this context ends."""
    (folder / "storage").mkdir()
    cluster = LocalCluster.prepare(
        spec,
        home=folder / "home",
        storage=folder / "storage",
        java=java,
        distribution=distribution,
    )
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def hadoop_cluster(tmp_path_factory, java, distribution) -> Iterator[LocalCluster]:
    """A cluster of two DataNodes that runs; a test that breaks it repairs it, by `configured`."""
    spec, folder = ClusterSpec(datanodes=2), tmp_path_factory.mktemp("hadoop")
    with running_cluster(folder, spec, java, distribution) as cluster:
        yield cluster
