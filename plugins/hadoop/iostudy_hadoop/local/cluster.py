"""Starts, supervises and stops a Hadoop cluster on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from iostudy import own_folder
from iostudy.errors import ClusterError
from iostudy.line_handler import LineHandler, ignore_line
from iostudy_hadoop import processes
from iostudy_hadoop.client import Client
from iostudy_hadoop.conf import folder
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.existing.mountable import HdfsDirectory
from iostudy_hadoop.local import (
    confinement,
    daemon,
    defaults,
    persistence,
    port_assignment,
    read_back,
    status,
)
from iostudy_hadoop.local.layout import NAMENODE, ClusterDaemon, ClusterLayout, MachineResources
from iostudy_hadoop.processes import DaemonProcess
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java, process_options
from iostudy_hadoop.spec import ClusterSpec, Properties

_FOLDER = "/iostudy"
_ATTEMPTS = 3
_READY_WITHIN_SECONDS = 180.0
_GONE_WITHIN_SECONDS = 60.0
_LOOK_EVERY_SECONDS = 0.2


class LocalCluster:
    """The protocol's Cluster as processes of this machine that communicate over 127.0.0.1.

    ``home`` keeps conf and logs. Stored data lie in new folders below ``storage`` and the
    spec's directories, which `stop` removes. Any process can `attach` to the cluster.
    """

    def __init__(self, layout: ClusterLayout) -> None:
        self._layout = layout
        self._running: dict[str, DaemonProcess] = {}
        self._properties: Properties = {}

    @classmethod
    def prepare(
        cls,
        spec: ClusterSpec,
        *,
        home: Path,
        storage: Path,
        java: Java,
        distribution: Distribution,
    ) -> LocalCluster:
        """Return a new cluster without side effects; UsageError for invalid properties."""
        defaults.require_allowed(spec.properties, fixed_addresses=True)
        memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        layout = ClusterLayout(
            identity=own_folder.new_identity(),
            spec=replace(spec, version=distribution.version),
            home=home.resolve(),
            storage=storage.resolve(),
            java=java,
            distribution=distribution,
            machine=MachineResources(len(os.sched_getaffinity(0)), memory_bytes),
        )
        return cls(layout)

    @classmethod
    def attach(cls, home: Path) -> LocalCluster:
        """Return the cluster with this home, even if it is incomplete.

        ClusterError if there is none.
        """
        cluster = cls(persistence.load(home.resolve()))
        cluster._running = _daemons(cluster._layout)
        return cluster

    @property
    def layout(self) -> ClusterLayout:
        """The folders, ports and daemons of the cluster."""
        return self._layout

    @property
    def root(self) -> HdfsDirectory:
        """The root of its HDFS; the cluster has been started."""
        return HdfsDirectory(self._layout.default_fs, "/", self._layout.namespace)

    def start(self, on_progress: LineHandler = ignore_line) -> None:
        """Create its folders and start all daemons; wait until HDFS and YARN serve.

        Raises ClusterError, TargetError or UsageError after ending every process. `stop`
        then removes the folders.
        """
        self._layout = replace(self._layout, ports=port_assignment.assign_ports(self._layout))
        persistence.make(self._layout)
        self._launch(on_progress)

    def stop(self) -> None:
        """End all its processes and remove its data; conf and logs stay.

        Has no effect on a stopped cluster. ClusterError if a process does not end,
        RestoreError if a folder cannot be removed.
        """
        processes.end_processes(self._layout.identity)
        self._running = {}
        persistence.remove(self._layout)

    def configured(self, properties: Properties, *, restart: bool) -> Client:
        """Prepare a trial, see the protocol; UsageError for properties that it cannot have."""
        defaults.require_allowed(properties)
        if restart:
            # A NameNode forgets deletions on their way, and learns of these blocks 6 hours later.
            with suppress(ClusterError):  # as the restart is the remedy where a daemon has ended
                self.settle()
            self._restart(properties)
        else:
            self._restart_ended()
        self._properties = dict(properties)
        return self._client()

    def read_back(self, names: tuple[str, ...]) -> Properties:
        """Return the effective values, see the protocol, without those of unset properties."""
        return read_back.read(self._layout, self._running, self._client_heap(), names)

    def settle(self) -> None:
        """Wait until deleted data are gone from the disks; ClusterError if deletion stalls."""
        until = time.monotonic() + _GONE_WITHIN_SECONDS
        before = None
        while not ((left := status.read_pending_deletion(self._layout)).done() and left == before):
            self.require_alive()
            if left != before:
                until, before = time.monotonic() + _GONE_WITHIN_SECONDS, left
            if time.monotonic() > until:
                raise _not_deleted(left, self._layout)
            time.sleep(_LOOK_EVERY_SECONDS)

    def require_alive(self) -> None:
        """ClusterError with the end of its log if a daemon has ended."""
        for server in self._layout.daemons():
            if not self._runs(server):
                raise daemon.describe_exit(self._layout, server.name)
        if self._layout.namespace is not None:
            self._layout.namespace.holder()

    def verify(self) -> None:
        """ClusterError if a daemon has ended, or if its master has lost it."""
        self.require_alive()
        if lost := status.find_lost_services(self._layout):
            raise ClusterError(
                "a cluster that is whole",
                found=lost,
                where=self._layout.default_fs,
                remedy=f"see the daemons' logs in {self._layout.logs}",
            )

    def data_dirs(self) -> tuple[Path, ...]:
        """Return the data directories of all DataNodes."""
        nodes = range(self._layout.spec.datanodes)
        return tuple(path for node in nodes for path in self._layout.data_dirs(node))

    def pids(self) -> tuple[int, ...]:
        """As `iostudy_hadoop.protocol.Cluster`."""
        return tuple(process.pid for process in processes.find_processes(self.layout.identity))

    def facts(self) -> Mapping[str, Any]:
        """Return versions, directories, daemons with memory and properties, and job properties."""
        layout = self._layout
        return {
            "description": layout.spec.describe(),
            "hadoop": {
                "version": layout.distribution.version,
                "source": layout.distribution.source,
            },
            "java": {"version": layout.java.version, "path": str(layout.java.path)},
            "default_fs": layout.default_fs,
            "namespace": None if layout.namespace is None else str(layout.namespace),
            "daemons": {server.name: self._fact(server) for server in layout.daemons()},
            "client_heap": self._client_heap(),
            "name_dirs": _texts(layout.name_dirs()),
            "data_dirs": _texts(self.data_dirs()),
            "local_dirs": _texts(layout.local_dirs()),
            "properties": defaults.job_properties(layout, self._properties),
        }

    def _fact(self, daemon: ClusterDaemon) -> Mapping[str, Any]:
        process = self._running.get(daemon.name)
        return {
            "pid": process.pid if process else None,
            "heap": defaults.heap(self._layout, self._layout.properties, daemon.role),
            "resident_bytes": process.resident_bytes() if process else 0,
            "properties": defaults.daemon_properties(self._layout, daemon),
        }

    def _launch(self, on_progress: LineHandler) -> None:
        """Start all daemons, at most _ATTEMPTS times. A failed attempt leaves no process."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._start_all(on_progress)
            except ClusterError as error:
                processes.end_processes(self._layout.identity)
                if attempt == _ATTEMPTS or "BindException" not in error.found:
                    raise
            except BaseException:
                processes.end_processes(self._layout.identity)
                raise
            else:
                return
            on_progress("another program took a port: retry with others")
            self._keep(replace(self._layout, ports=port_assignment.assign_ports(self._layout)))

    def _start_all(self, on_progress: LineHandler) -> None:
        """Start all daemons at once: DataNodes start while the NameNode's folder is formatted."""
        on_progress(f"starting {self._layout.spec.describe()}")
        self._running = {}
        self._keep(confinement.confine(self._layout, on_progress))
        port_assignment.require_free(self._layout)
        for server in self._layout.daemons():
            daemon.configure(self._layout, server)
            if server == NAMENODE:
                daemon.format_namenode(self._layout)
            self._running[server.name] = daemon.start(self._layout, server)
        self._await_ready(on_progress)

    def _restart(self, properties: Properties) -> None:
        processes.end_processes(self._layout.identity)
        self._keep(replace(self._layout, properties=dict(properties)))
        try:
            self._launch(ignore_line)
        except BaseException:
            # Recovery after properties that no daemon starts with then starts without them.
            self._keep(replace(self._layout, properties={}))
            raise

    def _restart_ended(self) -> None:
        """Restart the daemons that have ended; all, if the process that keeps the namespace has."""
        if not self._is_confined():
            self._restart(self._layout.properties)
            return
        for server in self._layout.daemons():
            if not self._runs(server):
                daemon.configure(self._layout, server)
                self._running[server.name] = daemon.start(self._layout, server)
        self._await_ready(ignore_line)

    def _await_ready(self, on_progress: LineHandler) -> None:
        until = time.monotonic() + _READY_WITHIN_SECONDS
        reported = ""
        while missing := status.find_missing_services(self._layout):
            self.require_alive()
            if status.NO_ROOM in missing:
                raise _no_room(self._layout)
            if time.monotonic() > until:
                raise _not_ready(missing, self._layout)
            if missing != reported:
                on_progress(f"waiting for {missing}")
                reported = missing
            time.sleep(_LOOK_EVERY_SECONDS)

    def _is_confined(self) -> bool:
        """Whether the namespace is there in which the daemons are to run."""
        try:
            return self._layout.namespace is None or self._layout.namespace.holder().runs()
        except ClusterError:
            return False

    def _runs(self, daemon: ClusterDaemon) -> bool:
        process = self._running.get(daemon.name)
        return process is not None and process.runs()

    def _keep(self, layout: ClusterLayout) -> None:
        persistence.save(layout)
        self._layout = layout

    def _client(self) -> Client:
        layout = self._layout
        properties = defaults.job_properties(layout, self._properties)
        folder.write(layout.job_conf, HadoopConfiguration.with_all(properties))
        scratch = layout.temporary / "jobs"
        scratch.mkdir(exist_ok=True)
        confinement.give(scratch, layout)
        return Client(
            entry=confinement.wrap(layout, scratch),
            # Its mount namespace holds the target: it must not outlive the cluster.
            variables={processes.CLUSTER: layout.identity, processes.DAEMON: "client"},
            java=layout.java.path,
            java_options=(
                *layout.java.options,
                *process_options(self._client_heap(), layout.temporary),
            ),
            classpath=layout.distribution.classpath,
            conf=layout.job_conf,
            folder=f"{layout.default_fs}{_FOLDER}",
            scratch=scratch,
            tag=defaults.cluster_tag(layout),
            yarn=layout.spec.yarn,
            replication=int(properties["dfs.replication"]),
            require_alive=self.require_alive,
        )

    def _client_heap(self) -> str:
        return defaults.client_heap(self._layout, self._properties)


def _daemons(layout: ClusterLayout) -> dict[str, DaemonProcess]:
    """Return the running daemons. Their children may carry the marker, but have other commands."""
    classes = {server.name: server.main_class for server in layout.daemons()}
    return {
        process.daemon: process
        for process in processes.find_processes(layout.identity)
        if process.arguments()[-1:] == (classes.get(process.daemon),)
    }


def _texts(paths: Iterable[Path]) -> list[str]:
    return [str(path) for path in paths]


def _not_ready(missing: str, layout: ClusterLayout) -> ClusterError:
    return ClusterError(
        f"a cluster that serves within {_READY_WITHIN_SECONDS:.0f} s",
        found=f"it lacks {missing}",
        where=layout.default_fs,
        remedy=f"see the daemons' logs in {layout.logs}",
    )


def _no_room(layout: ClusterLayout) -> ClusterError:
    return ClusterError(
        "free room for the NameNode: dfs.namenode.resource.du.reserved, by default 100 MiB",
        found="less, so that it stays in safe mode",
        where=", ".join(_texts(layout.name_dirs())),
        remedy="make room there, or name other directories for it (name_dirs)",
    )


def _not_deleted(left: status.PendingDeletion, layout: ClusterLayout) -> ClusterError:
    return ClusterError(
        "what was deleted in HDFS to be deleted on the disks",
        found=f"nothing more is, since {_GONE_WITHIN_SECONDS:.0f} s: {left.queued} blocks wait in "
        f"the NameNode, {left.in_transit} on their way to DataNodes, {left.files} files there",
        where=layout.default_fs,
        remedy=f"see the DataNodes' logs in {layout.logs}",
    )
