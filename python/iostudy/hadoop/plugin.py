"""Real Hadoop as a plugin: clusters, their settings and workloads."""

from __future__ import annotations

from iostudy.plugins import Plugin

_WORKLOADS = "iostudy.workloads.hadoop"
_CLUSTERS = "iostudy.settings.clusters"
_MOUNT_SETTINGS = "iostudy.settings.kinds.hdfs_mount"

PLUGIN = Plugin(
    "hadoop",
    workloads={
        "hadoop.dfsio-write": f"{_WORKLOADS}.dfsio:WRITE",
        "hadoop.dfsio-read": f"{_WORKLOADS}.dfsio:READ",
        "hadoop.dfsio-append": f"{_WORKLOADS}.dfsio:APPEND",
        "hadoop.dfsio-truncate": f"{_WORKLOADS}.dfsio:TRUNCATE",
        "hadoop.dfsio-random-read": f"{_WORKLOADS}.dfsio:RANDOM_READ",
        "hadoop.dfsio-backward-read": f"{_WORKLOADS}.dfsio:BACKWARD_READ",
        "hadoop.dfsio-skip-read": f"{_WORKLOADS}.dfsio:SKIP_READ",
        "hadoop.teragen": f"{_WORKLOADS}.terasort:GEN",
        "hadoop.terasort": f"{_WORKLOADS}.terasort:SORT",
        "hadoop.teravalidate": f"{_WORKLOADS}.terasort:VALIDATE",
        "hadoop.wordcount": f"{_WORKLOADS}.wordcount:WORDCOUNT",
        "hadoop.nnbench": f"{_WORKLOADS}.nnbench:HADOOP_NNBENCH",
        "hadoop.nnthroughput": f"{_WORKLOADS}.nnthroughput:HADOOP_NNTHROUGHPUT",
        "hadoop.mrbench": f"{_WORKLOADS}.mrbench:HADOOP_MRBENCH",
    },
    settings={
        "mount.hdfs": "iostudy.settings.definitions.hdfs_mount:FAMILY",
        "hadoop": "iostudy.settings.definitions.hadoop_family:FAMILY",
    },
    kinds={"mount.hdfs": f"{_MOUNT_SETTINGS}:KIND", "hadoop": "iostudy.settings.kinds.hadoop:KIND"},
    changes={
        "hadoop-cluster": f"{_CLUSTERS}.started_cluster:StartedCluster",
        "hdfs-folder": f"{_CLUSTERS}.hdfs_folder:HdfsFolder",
        "hdfs-mount": f"{_CLUSTERS}.hdfs_mount:HdfsMount",
    },
    owners={"hdfs-mount-settings": f"{_MOUNT_SETTINGS}:HdfsMountSettings"},
    sections={"hadoop": "iostudy.study.hadoop_section:KEY"},
    targets={"hdfs:": "iostudy.study.targets.hdfs:KEY"},
    mounts={"hdfs://": "iostudy.study.targets.hdfs_mount:KIND"},
    services={"hadoop": "iostudy.node.cluster_request:SERVICE"},
    checks=("iostudy.study.hadoop_check:check_hadoop",),
)
