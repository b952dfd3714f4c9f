"""Hadoop as a plugin: its benchmarks, natively and on clusters, and the settings of these."""

from __future__ import annotations

from pathlib import Path

from iostudy.plugins import Command, Plugin

_NATIVE = "iostudy_hadoop.native"
_WORKLOADS = "iostudy_hadoop.workloads"
_MOUNT_SETTINGS = "iostudy_hadoop.mount.kind"

PLUGIN = Plugin(
    "hadoop",
    commands=(
        Command(
            "hadoop",
            "Manage a Hadoop cluster on this machine.",
            "iostudy_hadoop.cli:app",
            restores=True,
        ),
        Command(
            "mount",
            "Mount HDFS as a file system, read-only by default.",
            "iostudy_hadoop.mount.cli:mount",
            changes_host=True,
        ),
    ),
    workloads={
        "dfsio-write": f"{_NATIVE}.dfsio:WRITE",
        "dfsio-read": f"{_NATIVE}.dfsio:READ",
        "dfsio-append": f"{_NATIVE}.dfsio:APPEND",
        "dfsio-random-read": f"{_NATIVE}.dfsio:RANDOM_READ",
        "dfsio-backward-read": f"{_NATIVE}.dfsio:BACKWARD_READ",
        "dfsio-skip-read": f"{_NATIVE}.dfsio:SKIP_READ",
        "dfsio-truncate": f"{_NATIVE}.dfsio:TRUNCATE",
        "teragen": f"{_NATIVE}.terasort:GEN",
        "terasort": f"{_NATIVE}.terasort:SORT",
        "teravalidate": f"{_NATIVE}.terasort:VALIDATE",
        "wordcount": f"{_NATIVE}.wordcount:WORDCOUNT",
        "nnbench": f"{_NATIVE}.nnbench:NNBENCH",
        "nnthroughput": f"{_NATIVE}.nnthroughput:NNTHROUGHPUT",
        "mrbench": f"{_NATIVE}.mrbench:MRBENCH",
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
        "mount.hdfs": "iostudy_hadoop.mount.settings:FAMILY",
        "hadoop": "iostudy_hadoop.properties.family:FAMILY",
    },
    kinds={
        "mount.hdfs": f"{_MOUNT_SETTINGS}:KIND",
        "hadoop": "iostudy_hadoop.properties.kind:KIND",
    },
    changes={
        "hadoop-cluster": "iostudy_hadoop.started_cluster:StartedCluster",
        "hdfs-folder": "iostudy_hadoop.hdfs_folder:HdfsFolder",
        "hdfs-mount": "iostudy_hadoop.mount.mounted:HdfsMount",
    },
    owners={"hdfs-mount-settings": f"{_MOUNT_SETTINGS}:HdfsMountSettings"},
    sections={"hadoop": "iostudy_hadoop.study.section:KEY"},
    targets={"hdfs:": "iostudy_hadoop.study.target:KEY"},
    mounts={
        "hdfs://": "iostudy_hadoop.mount.request:KIND",
        "local-hdfs": "iostudy_hadoop.mount.request:LOCAL_KIND",
        "local-sshfs": "iostudy_hadoop.mount.request:SSHFS_KIND",
    },
    services={"hadoop": "iostudy_hadoop.service.request:SERVICE"},
    formats={
        "hadoop": "iostudy_hadoop.site_files:FORMAT",
        "mount.hdfs": "iostudy_hadoop.site_files:MOUNT_FORMAT",
    },
    studies=Path(__file__).with_name("studies"),
    checks=("iostudy_hadoop.study.check:check_hadoop",),
)
