"""Layout of a local cluster: folders, ports and daemons (pure).

A `Layout` is all there is to know about one. It is kept beside the cluster, so that another process
can go on with it, or end it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from iostudy import own_folder
from iostudy.hadoop.local.ports import LOOPBACK
from iostudy.hadoop.software.artifacts import Distribution
from iostudy.hadoop.software.java import Java, process_options
from iostudy.hadoop.spec import ClusterSpec, Properties

FOLDER_PREFIX = "iostudy-hadoop-"
SHUFFLE_PORT = "mapreduce.shuffle.port"


class Role(StrEnum):
    """What a daemon does."""

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
"""The properties by which a daemon is told where to listen."""

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
class Daemon:
    """One process of the cluster; ``index`` counts those of its role from 0."""

    role: Role
    index: int = 0

    @property
    def name(self) -> str:
        """``namenode``, ``datanode2``: names its logs and its conf folder, too."""
        match self.role:
            case Role.NAMENODE | Role.RESOURCEMANAGER:
                return str(self.role)
            case Role.DATANODE | Role.NODEMANAGER:
                return f"{self.role}{self.index}"
            case unreachable:
                assert_never(unreachable)

    @property
    def main_class(self) -> str:
        """The Java class that it runs."""
        return _MAIN_CLASSES[self.role]


NAMENODE = Daemon(Role.NAMENODE)
RESOURCEMANAGER = Daemon(Role.RESOURCEMANAGER)

Ports = Mapping[str, Mapping[str, int]]
"""For each daemon, by its name: the port behind each of its ADDRESSES."""


@dataclass(frozen=True)
class Machine:
    """What the cluster may share out."""

    cores: int
    memory_bytes: int


@dataclass(frozen=True)
class Layout:
    """A cluster on this machine.

    ``home`` holds conf and logs; ``storage`` is the directory below which all is stored that the
    spec has no directories for. ``properties`` are those of the configuration that its daemons
    were last started with, over the spec's.
    """

    identity: str
    spec: ClusterSpec
    home: Path
    storage: Path
    java: Java
    distribution: Distribution
    machine: Machine
    ports: Ports = field(default_factory=dict)
    properties: Properties = field(default_factory=dict)

    @property
    def logs(self) -> Path:
        """Logs and outputs of the daemons."""
        return self.home / "logs"

    @property
    def job_conf(self) -> Path:
        """The conf folder of the jobs."""
        return self.conf("jobs")

    @property
    def temporary(self) -> Path:
        """What the daemons' web servers unpack; not on the storage under test."""
        return self.home / "tmp"

    def conf(self, name: str) -> Path:
        """The conf folder of a daemon."""
        return self.home / "conf" / name

    def daemons(self) -> tuple[Daemon, ...]:
        """All of them; the NameNode last, as it waits for its file system to be formatted."""
        indices = range(self.spec.datanodes)
        datanodes = [Daemon(Role.DATANODE, index) for index in indices]
        if not self.spec.yarn:
            return (*datanodes, NAMENODE)
        nodemanagers = [Daemon(Role.NODEMANAGER, index) for index in indices]
        return (*datanodes, RESOURCEMANAGER, *nodemanagers, NAMENODE)

    def address(self, daemon: Daemon, name: str) -> str:
        """Host and port of one of its ADDRESSES; KeyError where it has no such one."""
        return f"{LOOPBACK}:{self.ports[daemon.name][name]}"

    def web(self, daemon: Daemon) -> str:
        """Host and port where it answers over HTTP."""
        return self.address(daemon, _WEB[daemon.role])

    @property
    def default_fs(self) -> str:
        """The URI of its HDFS."""
        return f"hdfs://{self.address(NAMENODE, 'dfs.namenode.rpc-address')}"

    def folders(self) -> tuple[Path, ...]:
        """All that are the cluster's own, outside of home: they are removed with it."""
        parents = (self.storage, *self.spec.data_dirs, *self.spec.name_dirs)
        return tuple(dict.fromkeys(map(self._own, parents)))

    def name_dirs(self) -> tuple[Path, ...]:
        """Where the NameNode keeps image and journal, each time the whole."""
        return self._below(self.spec.name_dirs, "name")

    def data_dirs(self, datanode: int) -> tuple[Path, ...]:
        """Where a DataNode keeps its blocks."""
        return self._below(self.spec.dirs_of(datanode), f"data{datanode}")

    def local_dirs(self, node: int | None = None) -> tuple[Path, ...]:
        """Where jobs put what is between map and reduce: beside the data, as clusters do.

        ``node`` is that of a NodeManager; None is the local runner, which has all of them.
        """
        if node is None:
            return self._below(self.spec.data_dirs, "local")
        return self._below(self.spec.dirs_of(node), f"local{node}")

    def hadoop_tmp(self) -> Path:
        """What Hadoop puts elsewhere nowhere: hadoop.tmp.dir."""
        return self._own(self.storage) / "tmp"

    def format_command(self, heap: str) -> tuple[str, ...]:
        """How the NameNode is told to make an empty HDFS; it does so only in an empty folder.

        Nothing of it is measured, so it may have the options of a short run: half the CPU time.
        """
        short = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        program, *rest = self.command(NAMENODE, heap)
        return (program, *short, *rest, "-format", "-nonInteractive")

    def command(self, daemon: Daemon, heap: str) -> tuple[str, ...]:
        """How the daemon is started. Its JIT and collector are Java's own choice."""
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
        own = dict.fromkeys(map(self._own, parents or (self.storage,)))
        return tuple(folder / name for folder in own)
