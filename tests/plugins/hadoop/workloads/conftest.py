"""Places on a cluster, and on one with something in Java's place that says what a test wants."""

from __future__ import annotations

import pytest

from iostudy.workloads.workload import Place
from iostudy_hadoop.client import Client
from tests.plugins.hadoop import webhdfs

LISTING = """\
Total number of applications (application-types: [], states: [NEW] and tags: [study]):1
                Application-Id\t    Application-Name
application_17_0002\t             TeraGen\t           MAPREDUCE
"""
JAVA = """\
#!/bin/sh
echo "$@" >> "${{0%/*}}/calls"
case "$*" in
*"-list -appTags study"*) cat <<'END'
{listing}END
exit {status};;
*-kill*) exit {status};;
esac
{does}
"""


@pytest.fixture
def make(tmp_path):
    def make(does, *, yarn=False, yarn_status=0, alive=lambda: None, **given):
        java = tmp_path / "java"
        java.write_text(JAVA.format(does=does, listing=LISTING, status=yarn_status))
        java.chmod(0o755)
        (tmp_path / "calls").touch()
        client = Client(
            java=java,
            java_options=("-Xmx99m",),
            classpath="/jars/*",
            conf=tmp_path,
            folder="hdfs://127.0.0.1:1/study",
            scratch=tmp_path,
            tag="study",
            yarn=yarn,
            replication=1,
            require_alive=alive,
        )
        return Place(tmp_path, seed=1, service=client, **given)

    return make


@pytest.fixture
def calls(tmp_path):
    return lambda: (tmp_path / "calls").read_text().splitlines()


@pytest.fixture
def on_cluster(hadoop_cluster, tmp_path):
    """A place on a cluster of real daemons, all of which run."""
    return Place(tmp_path, seed=7, service=hadoop_cluster.configured({}, restart=False))


@pytest.fixture
def in_hdfs(hadoop_cluster):
    """The names in the study's folder of the cluster; none before anybody has made it."""

    def names():
        made = "iostudy" in webhdfs.names(hadoop_cluster, "/")
        return webhdfs.names(hadoop_cluster, "/iostudy") if made else set()

    return names
