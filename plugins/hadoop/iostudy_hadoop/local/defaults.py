"""The properties of a cluster on this machine (pure).

Hadoop's defaults apply except for two reasons: all daemons share one machine, and a failure must
appear within seconds because a study waits for it.

Source of names and Hadoop's defaults: core-, hdfs-, mapred- and yarn-default.xml (3.4.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import assert_never

from iostudy.errors import UsageError
from iostudy.units import MIB
from iostudy_hadoop import namespace
from iostudy_hadoop.conf.configuration import require_plain
from iostudy_hadoop.conf.heaps import CLIENT_HEAP, DATANODE_HEAP, HEAPS, NAMENODE_HEAP
from iostudy_hadoop.conf.reserved import explain_reserved
from iostudy_hadoop.local.layout import (
    ADDRESSES,
    NAMENODE,
    RESOURCEMANAGER,
    SHUFFLE_PORT,
    ClusterDaemon,
    ClusterLayout,
    Role,
)
from iostudy_hadoop.local.ports import LOOPBACK
from iostudy_hadoop.processes import CLUSTER
from iostudy_hadoop.spec import Properties

_YARN_HEAP = "512m"
_CONTAINER_MIB = 1024
_AM_HEAP = "768m"
_HEAP = re.compile(r"[1-9]\d*[kKmMgG]?", re.ASCII)

_ALL_ADDRESSES = frozenset(name for names in ADDRESSES.values() for name in names)


def require_allowed(properties: Properties, *, fixed_addresses: bool = False) -> None:
    """UsageError for invalid or reserved properties and invalid heaps.

    With ``fixed_addresses`` a property may set a daemon's address on the loopback interface.
    """
    for name, value in properties.items():
        require_plain(name, value)
        reason = explain_reserved(name)
        if reason and not (fixed_addresses and name in _ALL_ADDRESSES):
            raise _refused(name, value, reason)
        if name in HEAPS and not _HEAP.fullmatch(value):
            raise _refused(name, value, "a heap is a number of bytes, or of k, m or g: 512m")


def heap(layout: ClusterLayout, properties: Properties, role: Role) -> str:
    """Return the maximum heap of a daemon for -Xmx. The default suits some 100,000 files."""
    given = {**layout.spec.properties, **properties}
    match role:
        case Role.NAMENODE:
            return given.get(NAMENODE_HEAP, "1g")
        case Role.DATANODE:
            return given.get(DATANODE_HEAP, "512m")
        case Role.RESOURCEMANAGER | Role.NODEMANAGER:
            return _YARN_HEAP
        case unreachable:
            assert_never(unreachable)


def client_heap(layout: ClusterLayout, properties: Properties) -> str:
    """Return the maximum heap of a job's process; the local runner runs one task per core in it.

    The sort buffer of one task takes 100 MiB (mapreduce.task.io.sort.mb).
    """
    tasks = 0 if layout.spec.yarn else layout.machine.cores
    given = {**layout.spec.properties, **properties}
    return given.get(CLIENT_HEAP, f"{512 + 256 * tasks}m")


def daemon_properties(layout: ClusterLayout, daemon: ClusterDaemon) -> dict[str, str]:
    """Return all properties of a daemon, including those of its configuration."""
    values = {
        **_common(layout),
        # It may be up before its master is: the master is not given up for a minute.
        "ipc.client.connect.max.retries": "300",
        "ipc.client.connect.retry.interval": "200",
        **_addresses(layout, daemon),
        **_role_properties(layout, daemon),
    }
    return _with_given(values, layout, layout.properties)


def job_properties(layout: ClusterLayout, properties: Properties) -> dict[str, str]:
    """Return all properties of a job, including those of a trial."""
    values = {
        **_common(layout),
        # A master that does not answer has died: a job is not to wait for it.
        "ipc.client.connect.max.retries": "2",
        "yarn.resourcemanager.connect.max-wait.ms": "5000",
        "yarn.resourcemanager.connect.retry-interval.ms": "1000",
        "yarn.client.nodemanager-connect.max-wait-ms": "5000",
        "yarn.client.nodemanager-connect.retry-interval-ms": "1000",
        # By it a study on this HDFS learns how the cluster stands, see `iostudy_hadoop.existing`.
        "dfs.namenode.http-address": str(layout.web(NAMENODE)),
        **({namespace.PROPERTY: str(layout.namespace)} if layout.namespace else {}),
        **_mapreduce(layout),
    }
    return _with_given(values, layout, properties)


def cluster_tag(layout: ClusterLayout) -> str:
    """Return the tag of all applications in YARN."""
    return f"iostudy-{layout.identity}"


def _with_given(
    defaults: dict[str, str], layout: ClusterLayout, properties: Properties
) -> dict[str, str]:
    given = {**layout.spec.properties, **properties}
    # The port may be a fixed one; then the cluster's own entry says the same.
    free = given.keys() - _ALL_ADDRESSES - set(HEAPS)
    return defaults | {name: given[name] for name in sorted(free)}


def _common(layout: ClusterLayout) -> dict[str, str]:
    """Return the properties that daemons and jobs share."""
    return {
        "fs.defaultFS": layout.default_fs,
        "hadoop.tmp.dir": str(layout.hadoop_tmp()),
        "dfs.replication": str(layout.spec.replication),
        # A dead DataNode is known as such after 2 * recheck + 10 * interval: 14 s, not 10 minutes.
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.heartbeat.recheck-interval": "2000",
        **(_yarn(layout) if layout.spec.yarn else {}),
    }


def _yarn(layout: ClusterLayout) -> dict[str, str]:
    """Return the properties that YARN's daemons and their clients share."""
    nodes = layout.spec.datanodes
    cores = -(-layout.machine.cores // nodes)
    # A container for each core, one for the application's master; half of memory for the caches.
    most = layout.machine.memory_bytes // 2 // nodes // MIB
    memory = max(2 * _CONTAINER_MIB, min(most, (cores + 1) * _CONTAINER_MIB))
    classpath = ",".join((str(layout.job_conf), *layout.distribution.classpath.split(":")))
    return {
        # The other two need a file of queues, or a plan of who may have what.
        "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server."
        "resourcemanager.scheduler.fifo.FifoScheduler",
        "yarn.nodemanager.resource.memory-mb": str(memory),
        "yarn.nodemanager.resource.cpu-vcores": str(cores + 1),
        # What no node has is refused at once; it would be waited for, for ever.
        "yarn.scheduler.maximum-allocation-mb": "${yarn.nodemanager.resource.memory-mb}",
        "yarn.scheduler.maximum-allocation-vcores": "${yarn.nodemanager.resource.cpu-vcores}",
        "yarn.application.classpath": classpath,
        "mapreduce.application.classpath": classpath,
        **_address_properties(layout, RESOURCEMANAGER),
    }


def _mapreduce(layout: ClusterLayout) -> dict[str, str]:
    cores = str(layout.machine.cores)
    values = {
        "mapreduce.framework.name": "yarn" if layout.spec.yarn else "local",
        "mapreduce.job.tags": cluster_tag(layout),
        "mapreduce.cluster.local.dir": _joined(layout.local_dirs()),
        # The local runner takes one task after the other, unless this says how many at a time.
        "mapreduce.local.map.tasks.maximum": cores,
        "mapreduce.local.reduce.tasks.maximum": cores,
    }
    if not layout.spec.yarn:
        # By itself it leaves folders in /tmp/hadoop, which belongs to whoever was there first.
        return values | {"mapreduce.jobtracker.staging.root.dir": str(layout.temporary / "staging")}
    # Only Hadoop 3.4 gives them to containers by itself.
    options = " ".join(layout.java.options)
    return values | {
        "yarn.app.mapreduce.am.admin-command-opts": options,
        "mapreduce.admin.map.child.java.opts": options,
        "mapreduce.admin.reduce.child.java.opts": options,
        # A second attempt makes a trial invalid, and all nodes are this machine: none is slower.
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
        "mapreduce.map.memory.mb": str(_CONTAINER_MIB),
        "mapreduce.reduce.memory.mb": str(_CONTAINER_MIB),
        "yarn.app.mapreduce.am.resource.mb": str(_CONTAINER_MIB),
        "yarn.app.mapreduce.am.command-opts": f"-Xmx{_AM_HEAP}",
    }


def _role_properties(layout: ClusterLayout, daemon: ClusterDaemon) -> dict[str, str]:
    match daemon.role:
        case Role.NAMENODE:
            return _namenode(layout)
        case Role.DATANODE:
            return _datanode(layout, daemon.index)
        case Role.RESOURCEMANAGER:
            return _resourcemanager(layout)
        case Role.NODEMANAGER:
            return _nodemanager(layout, daemon.index)
        case unreachable:
            assert_never(unreachable)


def _namenode(layout: ClusterLayout) -> dict[str, str]:
    return {
        "dfs.namenode.name.dir": _joined(layout.name_dirs()),
        # Safe mode is left as soon as the blocks are reported; a cluster waits 30 s for more.
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.safemode.recheck.interval": "100",
        # DataNodes get their deletions every second, so that the next trial finds the blocks gone.
        "dfs.namenode.redundancy.interval.seconds": "1",
        "dfs.namenode.invalidate.work.pct.per.iteration": "1.0",
        "dfs.block.invalidate.limit": "10000",
        # There is no name service to ask who 127.0.0.1 is.
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }


def _datanode(layout: ClusterLayout, index: int) -> dict[str, str]:
    return {
        "dfs.datanode.data.dir": _joined(layout.data_dirs(index)),
        "dfs.datanode.hostname": LOOPBACK,
        # Otherwise a disk takes no block that would leave less than 1 GiB free on it.
        "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space": "0",
        "dfs.block.invalidate.limit": "10000",
    }


def _resourcemanager(layout: ClusterLayout) -> dict[str, str]:
    return {
        # A lost NodeManager is known as such after 15 s, not 10 minutes.
        "yarn.nm.liveness-monitor.expiry-interval-ms": "15000",
        # By itself it writes to /tmp/hadoop-yarn-USER, as does every other one of that user.
        "yarn.node-attribute.fs-store.root-dir": f"file://{layout.hadoop_tmp()}/node-attribute",
    }


def _nodemanager(layout: ClusterLayout, index: int) -> dict[str, str]:
    shuffle = "mapreduce_shuffle"
    return {
        "yarn.nodemanager.hostname": LOOPBACK,
        "yarn.nodemanager.local-dirs": _joined(layout.local_dirs(index)),
        "yarn.nodemanager.log-dirs": str(layout.logs / f"containers{index}"),
        "yarn.nodemanager.aux-services": shuffle,
        f"yarn.nodemanager.aux-services.{shuffle}.class": "org.apache.hadoop.mapred.ShuffleHandler",
        # Containers are found by the marker, and run the Java that the daemons run.
        "yarn.nodemanager.env-whitelist": f"JAVA_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,{CLUSTER}",
        # A disk that is nearly full is the user's affair; a node without disks takes no jobs.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
        # Java reserves far more address space than it uses.
        "yarn.nodemanager.vmem-check-enabled": "false",
    }


def _addresses(layout: ClusterLayout, daemon: ClusterDaemon) -> dict[str, str]:
    """Return the addresses of a daemon and of its masters."""
    return {**_address_properties(layout, NAMENODE), **_address_properties(layout, daemon)}


def _address_properties(layout: ClusterLayout, daemon: ClusterDaemon) -> dict[str, str]:
    ports = layout.ports[daemon.name]
    return {
        name: str(ports[name]) if name == SHUFFLE_PORT else layout.address(daemon, name)
        for name in ADDRESSES[daemon.role]
    }


def _joined(folders: Iterable[Path]) -> str:
    return ",".join(map(str, folders))


def _refused(name: str, value: str, found: str) -> UsageError:
    return UsageError(
        "properties that a cluster on this machine can be given",
        found=f"{name} = {value}: {found}",
        where="Hadoop's properties",
        remedy="leave it out, or correct it",
    )
