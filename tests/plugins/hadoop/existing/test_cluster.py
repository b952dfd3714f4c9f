"""Tests of an existing cluster, with an emulated NameNode."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iostudy.errors import ClusterError, UnsafePathError, UsageError
from iostudy_hadoop.conf.configuration import HadoopConfiguration, SiteFile
from iostudy_hadoop.existing import cluster as existing
from iostudy_hadoop.existing import reachability
from iostudy_hadoop.existing.cluster import Access, ExistingCluster, find
from iostudy_hadoop.software import artifacts, java
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java
from tests.plugins.hadoop.namenode import NameNode

Found = Callable[..., ExistingCluster]


RESOURCEMANAGER = "yarn.resourcemanager.address"


@pytest.fixture
def namenode() -> Iterator[NameNode]:
    with NameNode().serving() as node:
        yield node


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The versions of Hadoop that were requested; there is a Java for each."""
    versions: list[str | None] = []

    def distribution(version: str | None = None, **_: object) -> Distribution:
        versions.append(version)
        return Distribution(version or "3.3.6", "/lib/*", "here")

    monkeypatch.setattr(artifacts, "distribution", distribution)
    monkeypatch.setattr(
        java, "find_java", lambda *_: Java(Path("/java"), "17", ("--add-opens", "x"))
    )
    return versions


@pytest.fixture
def cluster(namenode: NameNode, requests: list[str | None], tmp_path: Path) -> Found:
    """Finds the cluster whose site files have these properties."""

    def found(**properties: str) -> ExistingCluster:
        # Of YARN no more is requests than that somebody listens.
        own = {RESOURCEMANAGER: namenode.address, **properties}
        namenode.write_conf(tmp_path / "conf", **own)
        access = find("hdfs:///bench", {"HADOOP_CONF_DIR": str(tmp_path / "conf")})
        return ExistingCluster(access, tmp_path / "home")

    return found


def test_cluster_is_found_by_the_site_files(
    cluster: Found, namenode: NameNode, requests: list[str | None]
) -> None:
    found = cluster()
    assert str(found.access.web) == namenode.address
    assert found.folder.startswith(f"hdfs://{namenode.address}/bench/iostudy-work-")
    assert requests == ["3.4.2"]


@pytest.mark.parametrize(
    ("environ", "found"),
    [({}, "not set"), ({"HADOOP_CONF_DIR": "/nowhere"}, "no core-site.xml in /nowhere")],
)
def test_site_files_are_needed(environ: dict[str, str], found: str) -> None:
    with pytest.raises(UsageError, match=found) as caught:
        find("hdfs:///bench", environ)
    assert "HADOOP_CONF_DIR" in caught.value.remedy


@pytest.mark.root
@pytest.mark.parametrize("foreign", ["", "hdfs-site.xml"])
def test_root_takes_no_site_files_of_another_user(tmp_path: Path, foreign: str) -> None:
    NameNode().write_conf(tmp_path / "conf")
    (tmp_path / "conf/hdfs-site.xml").write_text("<configuration/>")
    os.chown(tmp_path / "conf" / foreign, 12345, -1)
    with pytest.raises(UnsafePathError, match="belongs to user 12345"):
        find("hdfs:///bench", {"HADOOP_CONF_DIR": str(tmp_path / "conf")})


def test_unreachable_cluster_is_refused_before_java_starts(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = NameNode()
        closed.address = f"127.0.0.1:{free.getsockname()[1]}"
        closed.write_conf(tmp_path / "conf")
    with pytest.raises(ClusterError, match="Connection refused"):
        find("hdfs:///bench", {"HADOOP_CONF_DIR": str(tmp_path / "conf"), "PATH": ""})


def test_unreachable_resourcemanager_is_refused_before_java_starts(
    cluster: Found, requests: list[str | None]
) -> None:
    nobody = {RESOURCEMANAGER: "127.0.0.1:1"}
    with pytest.raises(ClusterError, match="Connection refused") as caught:
        cluster(**nobody, **{"mapreduce.framework.name": "yarn"})
    assert (caught.value.wanted, caught.value.where) == (
        "a ResourceManager that answers",
        "127.0.0.1:1",
    )
    assert requests == []
    cluster(**nobody)


def test_lost_resourcemanager_ends_a_job_in_seconds(cluster: Found) -> None:
    found = cluster(**{"mapreduce.framework.name": "yarn"})
    client = found.configured({}, restart=False)
    client.require_alive()
    site = SiteFile({RESOURCEMANAGER: "127.0.0.1:1"})
    gone = HadoopConfiguration({**found.access.configuration.files, "yarn-site.xml": site})
    found.access = dataclasses.replace(found.access, configuration=gone)
    with pytest.raises(ClusterError, match="Connection refused"):
        found.verify()


def test_missing_kerberos_ticket_is_refused_before_java_starts(
    cluster: Found, monkeypatch: pytest.MonkeyPatch, requests: list[str | None]
) -> None:
    def none(_: object) -> None:
        raise ClusterError("a ticket", found="none", where="cache", remedy="kinit")

    monkeypatch.setattr(reachability, "require_ticket", none)
    with pytest.raises(ClusterError, match="kinit"):
        cluster(**{"hadoop.security.authentication": "Kerberos"})
    assert requests == []
    cluster()


@pytest.mark.parametrize("version", ["3.1.1.7.1.7.0-551", "3.5.0-SNAPSHOT"])
def test_unreleased_version_is_not_fetched(
    cluster: Found, namenode: NameNode, requests: list[str | None], version: str
) -> None:
    namenode.beans["NameNodeInfo"]["SoftwareVersion"] = version
    cluster()
    assert requests == ["3.4.2"]


def test_an_installation_of_the_user_fits_the_cluster(
    namenode: NameNode, requests: list[str | None], tmp_path: Path
) -> None:
    namenode.write_conf(tmp_path / "conf")
    find("hdfs:///b", {"HADOOP_CONF_DIR": str(tmp_path / "conf"), "HADOOP_HOME": "/opt/hadoop"})
    assert requests == [None]


def test_java_reads_the_krb5_conf_that_kinit_reads(
    namenode: NameNode, requests: list[str | None], tmp_path: Path
) -> None:
    namenode.write_conf(tmp_path / "conf")
    found = find("hdfs:///b", {"HADOOP_CONF_DIR": str(tmp_path / "conf"), "KRB5_CONFIG": "/k.conf"})
    assert found.java_options[-1] == "-Djava.security.krb5.conf=/k.conf"


def test_a_trial_has_its_properties_over_the_clusters_own(cluster: Found, tmp_path: Path) -> None:
    found = cluster(**{"dfs.blocksize": "128m", "dfs.replication": "2", "a.b": "own"})
    client = found.configured({"dfs.blocksize": "64m", "client.heap": "777m"}, restart=False)
    properties = HadoopConfiguration.read(client.conf).effective()
    assert (properties["dfs.blocksize"], properties["a.b"]) == ("64m", "own")
    assert properties["mapreduce.job.tags"] == client.tag == found.tag
    assert client.replication == 2
    assert client.folder == found.folder
    assert "-Xmx777m" in client.java_options
    assert "client.heap" not in properties
    assert client.classpath == f"{tmp_path / 'conf'}:/lib/*"
    assert found.read_back(("dfs.blocksize", "client.heap", "dfs.replication")) == {
        "dfs.blocksize": "64m",
        "client.heap": "777m",
        "dfs.replication": "2",
    }
    HadoopConfiguration.with_all({"dfs.blocksize": "1m"}).write(client.conf)
    assert found.read_back(("dfs.blocksize",)) == {"dfs.blocksize": "1m"}, "not what was requested"


def test_the_next_trial_has_nothing_of_the_one_before(cluster: Found) -> None:
    found = cluster()
    found.configured({"dfs.blocksize": "64m"}, restart=False)
    properties = HadoopConfiguration.read(found.configured({}, restart=False).conf).effective()
    assert "dfs.blocksize" not in properties


def test_the_studys_own_properties_are_in_every_trial(cluster: Found) -> None:
    found = cluster()
    found.base = {"dfs.replication": "1"}
    assert found.configured({}, restart=False).replication == 1


def test_unset_properties_are_read_from_the_namenode(cluster: Found, namenode: NameNode) -> None:
    namenode.conf = {"dfs.blocksize": "134217728"}
    found = cluster()
    found.configured({}, restart=False)
    assert found.read_back(("dfs.blocksize", "no.such")) == {"dfs.blocksize": "134217728"}


def test_the_local_runner_leaves_nothing_outside_the_studys_folder(cluster: Found) -> None:
    found = cluster()
    client = found.configured({}, restart=False)
    properties = HadoopConfiguration.read(client.conf).effective()
    assert not client.yarn
    assert properties["mapreduce.jobtracker.staging.root.dir"] == str(found.home / "tmp/staging")
    assert properties["mapreduce.cluster.local.dir"].startswith(str(found.home))


def test_yarn_jobs_keep_the_clusters_tags_and_add_one(cluster: Found) -> None:
    found = cluster(**{"mapreduce.framework.name": "yarn", "mapreduce.job.tags": "team"})
    client = found.configured({}, restart=False)
    properties = HadoopConfiguration.read(client.conf).effective()
    assert client.yarn
    assert properties["mapreduce.job.tags"] == f"team,{found.tag}"
    assert "mapreduce.jobtracker.staging.root.dir" not in properties


STAGING = "yarn.app.mapreduce.am.staging-dir"
HISTORY = "mapreduce.jobhistory.intermediate-done-dir"


@pytest.mark.parametrize(
    ("given", "history"),
    [
        ({}, "/tmp/hadoop-yarn/staging/history/done_intermediate"),
        ({STAGING: "/user"}, "/user/history/done_intermediate"),
        ({STAGING: "/user", HISTORY: f"${{{STAGING}}}/done"}, "/user/done"),
    ],
)
def test_yarn_job_files_are_in_the_study_folder_and_history_is_not(
    cluster: Found, given: dict[str, str], history: str
) -> None:
    found = cluster(**{"mapreduce.framework.name": "yarn", **given})
    properties = HadoopConfiguration.read(found.configured({}, restart=False).conf).effective()
    assert properties[STAGING] == f"{found.folder}/staging"
    assert properties[HISTORY] == history


def test_final_staging_directory_of_the_cluster_is_used(cluster: Found, tmp_path: Path) -> None:
    found = cluster(**{"mapreduce.framework.name": "yarn"})
    site = SiteFile({STAGING: "/user"}, frozenset({STAGING}))
    own = HadoopConfiguration({**found.access.configuration.files, "mapred-site.xml": site})
    found.access = dataclasses.replace(found.access, configuration=own)
    properties = HadoopConfiguration.read(found.configured({}, restart=False).conf).effective()
    assert properties[STAGING] == "/user"


@pytest.mark.parametrize(
    ("properties", "restart", "named"),
    [
        ({"dfs.datanode.handler.count": "20"}, True, "dfs.datanode.handler.count = 20"),
        ({"namenode.heap": "2g"}, False, "namenode.heap = 2g"),
        ({}, True, "just been started"),
    ],
)
def test_no_daemon_is_restarted(
    cluster: Found, properties: dict[str, str], named: str, *, restart: bool
) -> None:
    with pytest.raises(UsageError, match="does not restart a cluster") as caught:
        cluster().configured(properties, restart=restart)
    assert named in caught.value.wanted


def test_safe_mode_is_reported_at_once(cluster: Found, namenode: NameNode) -> None:
    found = cluster()
    namenode.beans["NameNodeInfo"]["Safemode"] = "Safe mode is ON."
    with pytest.raises(ClusterError, match="Safe mode is ON"):
        found.configured({}, restart=False)


def test_a_datanode_that_is_lost_is_named(cluster: Found, namenode: NameNode) -> None:
    found = cluster()
    found.configured({}, restart=False)
    found.verify()
    namenode.beans["NameNodeInfo"]["LiveNodes"] = json.dumps({"a:9866": {}, "c:9866": {}})
    with pytest.raises(ClusterError, match=r"lost b:9866"):
        found.verify()


def test_pending_deletions_are_awaited(
    cluster: Found, namenode: NameNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cluster()
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        namenode.beans["FSNamesystem"]["PendingDeletionBlocks"] -= 1

    monkeypatch.setattr(existing.time, "sleep", sleep)
    namenode.beans["FSNamesystem"]["PendingDeletionBlocks"] = 2
    found.settle()
    assert len(waited) == 3


def find_pair(active: NameNode, standby: NameNode, conf: Path) -> Access:
    """The access to a cluster of two NameNodes, of which the standby is named first."""
    switch(active, standby)
    both = {
        "dfs.nameservices": "ns",
        "dfs.ha.namenodes.ns": "x,y",
        "dfs.namenode.rpc-address.ns.x": standby.address,
        "dfs.namenode.rpc-address.ns.y": active.address,
        "dfs.namenode.http-address.ns.x": standby.address,
        "dfs.namenode.http-address.ns.y": active.address,
    }
    standby.write_conf(conf, **both)
    return find("hdfs://ns/bench", {"HADOOP_CONF_DIR": str(conf)})


def switch(active: NameNode, standby: NameNode) -> None:
    active.beans["FSNamesystem"]["tag.HAState"] = "active"
    standby.beans["FSNamesystem"]["tag.HAState"] = "standby"


def test_the_active_namenode_is_queried(
    namenode: NameNode, requests: list[str | None], tmp_path: Path
) -> None:
    with NameNode().serving() as active:
        assert str(find_pair(active, namenode, tmp_path / "conf").web) == active.address


def test_after_a_failover_the_new_active_namenode_is_queried(
    namenode: NameNode,
    requests: list[str | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        namenode.beans["FSNamesystem"]["PendingDeletionBlocks"] -= 1

    monkeypatch.setattr(existing.time, "sleep", sleep)
    with NameNode().serving() as first:
        access = find_pair(first, namenode, tmp_path / "conf")
        found = ExistingCluster(access, tmp_path / "home")
        found.configured({}, restart=False)
        switch(namenode, first)
        namenode.beans["FSNamesystem"]["PendingDeletionBlocks"] = 2
        found.settle()
        assert len(waited) == 3, "the standby has none, and the active NameNode had two"
        switch(first, namenode)
        assert found.facts()["web"] == first.address
    switch(namenode, first)
    found.verify()
    assert found.facts()["web"] == namenode.address
    namenode.beans = {}
    with pytest.raises(ClusterError, match="no SoftwareVersion"):
        found.verify()


def test_facts_without_http_are_partial(cluster: Found, namenode: NameNode) -> None:
    namenode.beans = {}
    found = cluster()
    found.configured({}, restart=False)
    found.settle()
    found.verify()
    facts = found.facts()
    assert (facts["version"], facts["datanodes"]) == (None, None)
    assert facts["namenodes"] == [namenode.address]
    json.dumps(facts)


def test_the_facts_are_those_of_the_cluster(cluster: Found) -> None:
    facts = cluster().facts()
    assert facts["version"] == "3.4.2"
    assert facts["datanodes"] == ["a:9866", "b:9866"]
    json.dumps(facts)
