"""Tests of the default properties of daemons and jobs, and of the reserved ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.conf import folder
from iostudy_hadoop.conf.reserved import explain_reserved
from iostudy_hadoop.local import defaults
from iostudy_hadoop.local.layout import NAMENODE, RESOURCEMANAGER, ClusterDaemon, Role
from tests.plugins.hadoop.clusters import GIB, layout

DATANODE, NODEMANAGER = ClusterDaemon(Role.DATANODE), ClusterDaemon(Role.NODEMANAGER)


@pytest.mark.parametrize(("datanodes", "replicas"), [(1, "1"), (2, "2"), (3, "3"), (5, "3")])
def test_no_more_replicas_than_datanodes(datanodes, replicas):
    assert defaults.job_properties(layout(datanodes=datanodes), {})["dfs.replication"] == replicas


def test_property_precedence_is_trial_spec_cluster():
    name = "dfs.heartbeat.interval"
    assert defaults.job_properties(layout(), {})[name] == "1"
    given = layout(properties={name: "2", "namenode.heap": "2g"})
    assert defaults.job_properties(given, {})[name] == "2"
    assert defaults.job_properties(given, {name: "5", "client.heap": "1g"})[name] == "5"
    assert defaults.daemon_properties(given, NAMENODE)[name] == "2"
    assert defaults.daemon_properties(replace(given, properties={name: "5"}), NAMENODE)[name] == "5"
    assert not [key for key in defaults.daemon_properties(given, NAMENODE) if key.endswith("heap")]
    assert not [key for key in defaults.job_properties(given, {}) if key.endswith("heap")]


def test_a_dead_datanode_is_noticed_in_10_to_20_s():
    properties = defaults.daemon_properties(layout(), NAMENODE)
    recheck = int(properties["dfs.namenode.heartbeat.recheck-interval"]) / 1000
    assert 10 <= 2 * recheck + 10 * int(properties["dfs.heartbeat.interval"]) <= 20


def test_daemons_and_jobs_meet_at_the_same_addresses():
    cluster = layout(datanodes=2, yarn=True)
    jobs = defaults.job_properties(cluster, {})
    namenode = defaults.daemon_properties(cluster, NAMENODE)
    assert jobs["fs.defaultFS"] == f"hdfs://{namenode['dfs.namenode.rpc-address']}"
    node = defaults.daemon_properties(cluster, NODEMANAGER)
    tracker = "yarn.resourcemanager.resource-tracker.address"
    assert node[tracker] == defaults.daemon_properties(cluster, RESOURCEMANAGER)[tracker]
    assert jobs["yarn.resourcemanager.address"] == node["yarn.resourcemanager.address"]
    assert node["mapreduce.shuffle.port"].isdecimal()


def test_each_daemon_has_its_own_folders():
    cluster = layout(datanodes=2, yarn=True)
    for index in (0, 1):
        datanode = defaults.daemon_properties(cluster, ClusterDaemon(Role.DATANODE, index))
        assert datanode["dfs.datanode.data.dir"] == str(cluster.data_dirs(index)[0])
        node = defaults.daemon_properties(cluster, ClusterDaemon(Role.NODEMANAGER, index))
        assert node["yarn.nodemanager.local-dirs"] == str(cluster.local_dirs(index)[0])


def test_documentation_lists_every_changed_default():
    page = (Path(__file__).parents[4] / "docs/hadoop.md").read_text()
    for cluster in (layout(), layout(yarn=True)):
        properties = {
            name for each in cluster.daemons() for name in defaults.daemon_properties(cluster, each)
        }
        properties |= defaults.job_properties(cluster, {}).keys()
        assert not [
            name for name in properties if not explain_reserved(name) and f"`{name}`" not in page
        ]


def test_tasks_have_one_attempt_by_default():
    name = "mapreduce.reduce.speculative"
    cluster = layout(yarn=True)
    assert defaults.job_properties(cluster, {})[name] == "false"
    assert defaults.job_properties(cluster, {name: "true"})[name] == "true"


def test_no_files_are_left_in_hadoops_default_folders():
    """Its own defaults are below /tmp, the same for all clusters, and outlive each of them."""
    staging = defaults.job_properties(layout(), {})["mapreduce.jobtracker.staging.root.dir"]
    assert staging == "/home/tmp/staging"
    cluster = layout(yarn=True)
    properties = defaults.daemon_properties(cluster, RESOURCEMANAGER)[
        "yarn.node-attribute.fs-store.root-dir"
    ]
    assert properties == f"file://{cluster.folders()[0]}/tmp/node-attribute"


def test_containers_carry_the_marker_and_jobs_the_tag():
    cluster = layout(yarn=True)
    whitelist = defaults.daemon_properties(cluster, NODEMANAGER)["yarn.nodemanager.env-whitelist"]
    assert "IOSTUDY_CLUSTER" in whitelist.split(",")
    jobs = defaults.job_properties(cluster, {})
    assert jobs["mapreduce.job.tags"] == "iostudy-0123456789abcdef"
    for name in ("yarn.app.mapreduce.am.admin-command-opts", "mapreduce.admin.map.child.java.opts"):
        assert jobs[name] == "--add-opens java.base/java.lang=X"
    assert jobs["mapreduce.application.classpath"] == "/home/conf/jobs,/jars/*,/more/*"


@pytest.mark.parametrize(
    ("cores", "memory_gib", "nodes", "memory_mib", "vcores"),
    [(2, 24, 3, 2048, 2), (2, 24, 1, 3072, 3), (32, 64, 4, 8192, 9), (1, 2, 1, 2048, 2)],
)
def test_a_nodemanager_has_a_container_for_each_core_and_one_for_the_master(
    cores, memory_gib, nodes, memory_mib, vcores
):
    cluster = layout(cores, memory_gib * GIB, datanodes=nodes, yarn=True)
    properties = defaults.daemon_properties(cluster, NODEMANAGER)
    assert properties["yarn.nodemanager.resource.memory-mb"] == str(memory_mib)
    assert properties["yarn.nodemanager.resource.cpu-vcores"] == str(vcores)


def test_the_local_runner_uses_all_cores_and_has_the_heap_for_it():
    cluster = layout(cores=8)
    jobs = defaults.job_properties(cluster, {})
    assert jobs["mapreduce.framework.name"] == "local"
    assert jobs["mapreduce.local.map.tasks.maximum"] == "8"
    assert defaults.client_heap(cluster, {}) == "2560m"
    assert defaults.client_heap(cluster, {"client.heap": "3g"}) == "3g"
    assert defaults.client_heap(layout(cores=8, yarn=True), {}) == "512m"


def test_all_daemons_and_jobs_of_a_small_machine_fit_into_24_gib():
    cluster = layout(datanodes=3, yarn=True)
    heaps = [defaults.heap(cluster, {}, daemon.role) for daemon in cluster.daemons()]
    mib = sum(int(each[:-1]) * (1024 if each.endswith("g") else 1) for each in heaps)
    node = defaults.daemon_properties(cluster, NODEMANAGER)
    containers = 3 * int(node["yarn.nodemanager.resource.memory-mb"])
    assert mib + containers + 512 < 16 * 1024


def test_heaps_of_the_spec_and_of_the_trial():
    cluster = layout(properties={"namenode.heap": "2g", "datanode.heap": "1g"})
    assert defaults.heap(cluster, {}, Role.NAMENODE) == "2g"
    assert defaults.heap(cluster, {"datanode.heap": "3g"}, Role.DATANODE) == "3g"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dfs.namenode.name.dir", "/"),
        ("dfs.data.dir", "/"),
        ("fs.defaultFS", "hdfs://elsewhere"),
        ("yarn.nodemanager.env-whitelist", "PATH"),
        ("dfs.datanode.address", "127.0.0.1:1"),
        ("datanode.heap", "-1"),
        ("client.heap", "1 GiB"),
        ("dfs.blocksize", "1\n"),
    ],
)
def test_reserved_properties_are_refused(name, value):
    with pytest.raises(UsageError) as caught:
        defaults.require_allowed({name: value})
    assert name in caught.value.found


def test_a_spec_may_say_where_daemons_listen():
    defaults.require_allowed({"dfs.datanode.address": "127.0.0.1:1"}, fixed_addresses=True)
    with pytest.raises(UsageError):
        defaults.require_allowed({"dfs.datanode.data.dir": "/"}, fixed_addresses=True)


def test_daemons_log_to_files_and_jobs_to_the_console():
    assert b"${hadoop.log.dir}/datanode0.log" in folder.logging("datanode0.log")
    assert b"ConsoleAppender" in folder.logging(None)
