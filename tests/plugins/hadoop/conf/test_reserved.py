"""Tests of reserved properties, which a study file cannot set."""

from __future__ import annotations

from iostudy_hadoop.conf.reserved import explain_reserved

CLUSTER, OWN, OPTION = "which cluster", "iostudy itself gives it", "the workloads themselves"
SECURITY, ADDRESS, FILES = "it concerns security", "it is an address", "a place for files"


RESERVED = (
    ("fs.defaultFS", CLUSTER),
    ("fs.default.name", CLUSTER),
    ("mapreduce.framework.name", CLUSTER),
    ("dfs.nameservices", CLUSTER),
    ("dfs.ha.namenodes.ns", CLUSTER),
    ("yarn.resourcemanager.ha.rm-ids", CLUSTER),
    ("mapreduce.job.tags", OWN),
    ("yarn.nodemanager.env-whitelist", OWN),
    ("yarn.nodemanager.aux-services.mapreduce_shuffle.class", OWN),
    ("yarn.application.classpath", OWN),
    ("mapreduce.job.reduces", OPTION),
    ("mapreduce.terasort.output.replication", OPTION),
    ("hadoop.security.authentication", SECURITY),
    ("hadoop.rpc.protection", SECURITY),
    ("hadoop.proxyuser.root.groups", SECURITY),
    ("dfs.namenode.keytab.file", SECURITY),
    ("dfs.namenode.kerberos.principal", SECURITY),
    ("dfs.namenode.acls.enabled", SECURITY),
    ("dfs.permissions.enabled", SECURITY),
    ("dfs.block.access.token.enable", SECURITY),
    ("mapreduce.shuffle.ssl.enabled", SECURITY),
    ("ssl.server.keystore.password", SECURITY),
    ("dfs.namenode.rpc-address", ADDRESS),
    ("dfs.namenode.rpc-address.ns.nn1", ADDRESS),
    ("dfs.datanode.ipc.address", ADDRESS),
    ("yarn.resourcemanager.hostname.rm1", ADDRESS),
    ("mapreduce.shuffle.port", ADDRESS),
    ("dfs.hosts.exclude", ADDRESS),
    ("hadoop.tmp.dir", FILES),
    ("dfs.data.dir", FILES),
    ("dfs.datanode.data.dir", FILES),
    ("dfs.namenode.name.dir", FILES),
    ("mapreduce.cluster.local.dir", FILES),
    ("yarn.nodemanager.local-dirs", FILES),
    ("yarn.app.mapreduce.am.staging-dir", FILES),
)


def test_properties_that_select_another_cluster_are_refused():
    for name, why in RESERVED:
        assert why in explain_reserved(name), name


def test_properties_that_a_study_may_set():
    for name in (
        "dfs.blocksize",
        "dfs.client.read.shortcircuit",
        "dfs.domain.socket.path",
        "dfs.datanode.data.dir.perm",
        "dfs.namenode.name.dir.restore",
        "dfs.namenode.fs-limits.max-blocks-per-file",
        "dfs.datanode.transferTo.allowed",
        "mapreduce.job.queuename",
        "mapreduce.task.io.sort.mb",
        "io.file.buffer.size",
        "yarn.nodemanager.resource.memory-mb",
        "namenode.heap",
    ):
        assert explain_reserved(name) == "", name
