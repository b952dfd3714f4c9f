"""A local Hadoop cluster for benches."""

from __future__ import annotations

from pathlib import Path

from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.software import artifacts, java
from iostudy_hadoop.spec import ClusterSpec


def prepare_cluster(folder: Path) -> LocalCluster:
    """Return a cluster below the folder, with the defaults; its caller starts and stops it."""
    distribution = artifacts.distribution()
    (folder / "storage").mkdir()
    return LocalCluster.prepare(
        ClusterSpec(),
        home=folder / "home",
        storage=folder / "storage",
        java=java.find_java(distribution.version),
        distribution=distribution,
    )
