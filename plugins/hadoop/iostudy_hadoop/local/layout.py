"""Layout of a local cluster: folders, ports and daemons (pure).

A `Layout` describes a cluster completely. It is saved with the cluster, so that another process can
use or end it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy import own_folder
from iostudy.safe_path import ROOT_UID
from iostudy_hadoop.local.ports import LOOPBACK
from iostudy_hadoop.namespace import Address, Namespace
from iostudy_hadoop.processes import UIDS
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java, process_options
from iostudy_hadoop.spec import ClusterSpec, Properties

FOLDER_PREFIX = "iostudy-hadoop-"
SHUFFLE_PORT = "mapreduce.shuffle.port"


class Role(StrEnum):
    """The function of a daemon."""

    NAMENODE = "namenode"
    DATANODE = "datanode"
    RESOURCEMANAGER = "resourcemanager"
    NODEMANAGER = "nodemanager"


ADDRESSES: Mapping[Role, tuple[str, ...]] = {
    Role.NAMENODE: ("dfs.namenode.rpc-address", "dfs.namenode.http-address"),
    Role.DATANODE: (
        "dfs.datanode.http.address",
        "dfs.datanode.address",
        "dfs.datanode.ipc.address",
    ),
    Role.RESOURCEMANAGER: (
        "yarn.resourcemanager.webapp.address",
        "yarn.resourcemanager.address",
        "yarn.resourcemanager.scheduler.address",
        "yarn.resourcemanager.resource-tracker.address",
        "yarn.resourcemanager.admin.address",
    ),
    Role.NODEMANAGER: (
        "yarn.nodemanager.webapp.address",
        "yarn.nodemanager.address",
        "yarn.nodemanager.localizer.address",
        SHUFFLE_PORT,
    ),
}
"""The address properties of each role."""

_WEB: Mapping[Role, str] = {
    Role.NAMENODE: "dfs.namenode.http-address",
    Role.DATANODE: "dfs.datanode.http.address",
    Role.RESOURCEMANAGER: "yarn.resourcemanager.webapp.address",
    Role.NODEMANAGER: "yarn.nodemanager.webapp.address",
}

_MAIN_CLASSES: Mapping[Role, str] = {
    Role.NAMENODE: "org.apache.hadoop.hdfs.server.namenode.NameNode",
    Role.DATANODE: "org.apache.hadoop.hdfs.server.datanode.DataNode",
    Role.RESOURCEMANAGER: "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    Role.NODEMANAGER: "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
}


@dataclass(frozen=True)
class ClusterDaemon:
    """One process of the cluster; ``index`` counts the daemons of a role from 0."""

    role: Role
    index: int = 0

    @property
    def name(self) -> str:
        """The name in logs and conf folders: ``namenode``, ``datanode2``."""
        match self.role:
            case Role.NAMENODE | Role.RESOURCEMANAGER:
                return str(self.role)
            case Role.DATANODE | Role.NODEMANAGER:
                return f"{self.role}{self.index}"
            case unreachable:
                assert_never(unreachable)

    @property
    def main_class(self) -> str:
        """The Java class of the daemon."""
        return _MAIN_CLASSES[self.role]


NAMENODE = ClusterDaemon(Role.NAMENODE)
RESOURCEMANAGER = ClusterDaemon(Role.RESOURCEMANAGER)

Ports = Mapping[str, Mapping[str, int]]
"""The port of each of its ADDRESSES, by name of the daemon."""


@dataclass(frozen=True)
class MachineResources:
    """Memory and cores that the cluster may use."""

    cores: int
    memory_bytes: int


@dataclass(frozen=True)
class ClusterLayout:
    """A cluster on this machine.

    ``home`` holds conf and logs. ``storage`` is the directory of all data for which the spec
    names no directories. ``properties`` are those of the latest start of the daemons; they
    override the spec's. ``uid`` is the user of the daemons, which run in a namespace of their own;
    None without one, as in earlier versions of iostudy.
    """

    identity: str
    spec: ClusterSpec
    home: Path
    storage: Path
    java: Java
    distribution: Distribution
    machine: MachineResources
    ports: Ports = field(default_factory=dict)
    properties: Properties = field(default_factory=dict)
    uid: int | None = None

    @property
    def namespace(self) -> Namespace | None:
        """The network namespace of the daemons; None for that of this process."""
        if self.uid is None:
            return None
        return Namespace(self.identity, ROOT_UID if self.uid in UIDS else self.uid)

    @property
    def logs(self) -> Path:
        """The folder of the daemons' logs and outputs."""
        return self.home / "logs"

    @property
    def confs(self) -> Path:
        """The folder of all conf folders."""
        return self.home / "conf"

    @property
    def job_conf(self) -> Path:
        """The conf folder of the jobs."""
        return self.conf("jobs")

    @property
    def temporary(self) -> Path:
        """The folder of the daemons' unpacked web applications, not on the target."""
        return self.home / "tmp"

    def conf(self, name: str) -> Path:
        """Return the conf folder of a daemon."""
        return self.confs / name

    def daemons(self) -> tuple[ClusterDaemon, ...]:
        """Return all daemons, the NameNode last: it waits until its file system is formatted."""
        indices = range(self.spec.datanodes)
        datanodes = [ClusterDaemon(Role.DATANODE, index) for index in indices]
        if not self.spec.yarn:
            return (*datanodes, NAMENODE)
        nodemanagers = [ClusterDaemon(Role.NODEMANAGER, index) for index in indices]
        return (*datanodes, RESOURCEMANAGER, *nodemanagers, NAMENODE)

    def address(self, daemon: ClusterDaemon, name: str) -> str:
        """Return host and port of one of its ADDRESSES; KeyError without that address."""
        return f"{LOOPBACK}:{self.ports[daemon.name][name]}"

    def web(self, daemon: ClusterDaemon) -> Address:
        """Return the address of a daemon's HTTP server."""
        return Address(self.address(daemon, _WEB[daemon.role]), self.namespace)

    @property
    def default_fs(self) -> str:
        """The URI of the cluster's HDFS."""
        return f"hdfs://{self.address(NAMENODE, 'dfs.namenode.rpc-address')}"

    def folders(self) -> tuple[Path, ...]:
        """Return all folders of the cluster outside of home, which are removed with it."""
        parents = (self.storage, *self.spec.data_dirs, *self.spec.name_dirs)
        return tuple(dict.fromkeys(map(self._own, parents)))

    def name_dirs(self) -> tuple[Path, ...]:
        """Return the directories of the NameNode's image and journal, each a full copy."""
        return self._below(self.spec.name_dirs, "name")

    def data_dirs(self, datanode: int) -> tuple[Path, ...]:
        """Return the block directories of a DataNode."""
        return self._below(self.spec.dirs_of(datanode), f"data{datanode}")

    def local_dirs(self, node: int | None = None) -> tuple[Path, ...]:
        """Return the directories of intermediate map output, on the same disks as the data.

        ``node`` is the index of a NodeManager; None is the local runner, which uses all of
        them.
        """
        if node is None:
            return self._below(self.spec.data_dirs, "local")
        return self._below(self.spec.dirs_of(node), f"local{node}")

    def hadoop_tmp(self) -> Path:
        """The directory of hadoop.tmp.dir, for files without a directory of their own."""
        return self._own(self.storage) / "tmp"

    def format_command(self, heap: str) -> tuple[str, ...]:
        """Return the command that creates an empty HDFS; it requires an empty folder.

        It is not measured, so it uses the JVM options of a short run, which halve its CPU
        time.
        """
        short = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        program, *rest = self.command(NAMENODE, heap)
        return (program, *short, *rest, "-format", "-nonInteractive")

    def command(self, daemon: ClusterDaemon, heap: str) -> tuple[str, ...]:
        """Return the command of a daemon, with Java's default compiler and collector."""
        classpath = f"{self.conf(daemon.name)}:{self.distribution.classpath}"
        return (
            str(self.java.path),
            *self.java.options,
            *process_options(heap, self.temporary),
            f"-Dhadoop.log.dir={self.logs}",
            f"-Dyarn.log.dir={self.logs}",
            *("-cp", classpath, daemon.main_class),
        )

    def _own(self, parent: Path) -> Path:
        return own_folder.new_path(parent, FOLDER_PREFIX, self.identity)

    def _below(self, parents: tuple[Path, ...], name: str) -> tuple[Path, ...]:
        folders = dict.fromkeys(map(self._own, parents or (self.storage,)))
        return tuple(folder / name for folder in folders)
