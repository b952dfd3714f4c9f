"""Reads the effective properties of a local cluster from its running daemons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iostudy.errors import ClusterError
from iostudy_hadoop import jmx
from iostudy_hadoop.conf.configuration import HadoopConfiguration
from iostudy_hadoop.conf.heaps import CLIENT_HEAP, DATANODE_HEAP, NAMENODE_HEAP
from iostudy_hadoop.local.layout import NAMENODE, ClusterDaemon, ClusterLayout, Role
from iostudy_hadoop.processes import DaemonProcess
from iostudy_hadoop.spec import Properties

_READERS: Mapping[str, Role] = {
    "dfs.namenode.": Role.NAMENODE,
    "dfs.datanode.": Role.DATANODE,
    "yarn.resourcemanager.": Role.RESOURCEMANAGER,
    "yarn.scheduler.": Role.RESOURCEMANAGER,
    "yarn.nodemanager.": Role.NODEMANAGER,
    "mapreduce.shuffle.": Role.NODEMANAGER,
}
"""The role that reads a property, by the prefix of its name."""

_HEAP_OF = {
    NAMENODE_HEAP: Role.NAMENODE,
    DATANODE_HEAP: Role.DATANODE,
}
_MAX_HEAP = "-Xmx"


def read(
    layout: ClusterLayout,
    running: Mapping[str, DaemonProcess],
    client_heap: str,
    names: tuple[str, ...],
) -> Properties:
    """Return the effective values; ClusterError if daemons of one role differ.

    The value of a daemon's property comes from all daemons of its role, a heap from their
    command lines. Other properties come from the jobs' conf folder, else from the NameNode. If
    the daemons were started with such a property, all of them must agree.
    """
    jobs = HadoopConfiguration.read(layout.job_conf).effective()
    values = {name: _value(layout, running, client_heap, jobs, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _value(
    layout: ClusterLayout,
    running: Mapping[str, DaemonProcess],
    client_heap: str,
    jobs: Properties,
    name: str,
) -> str | None:
    if name == CLIENT_HEAP:
        return client_heap
    if name in _HEAP_OF:
        heaps = {
            daemon.name: _heap(running[daemon.name])
            for daemon in layout.daemons()
            if daemon.role is _HEAP_OF[name]
        }
        return _agreed(name, heaps)
    role = next((role for start, role in _READERS.items() if name.startswith(start)), None)
    daemons = [daemon for daemon in layout.daemons() if daemon.role is role]
    if daemons:
        return _agreed(name, _daemon_values(layout, daemons, name))
    if name in layout.properties:
        by_daemon = _daemon_values(layout, layout.daemons(), name)
        return _agreed(name, {**by_daemon, "the jobs": jobs.get(name)})
    return jobs.get(name) or jmx.read_property(layout.web(NAMENODE), name)


def _daemon_values(
    layout: ClusterLayout, daemons: Iterable[ClusterDaemon], name: str
) -> dict[str, str | None]:
    return {daemon.name: jmx.read_property(layout.web(daemon), name) for daemon in daemons}


def _heap(process: DaemonProcess) -> str | None:
    options = [argument for argument in process.arguments() if argument.startswith(_MAX_HEAP)]
    return options[-1].removeprefix(_MAX_HEAP) if options else None


def _agreed(name: str, by_daemon: Mapping[str, str | None]) -> str | None:
    values = set(by_daemon.values())
    if len(values) == 1:
        return values.pop()
    raise ClusterError(
        f"one value of {name} in the whole cluster",
        found=", ".join(f"{daemon}: {value}" for daemon, value in by_daemon.items()),
        where="the cluster on this machine",
        remedy="restart the daemons: they have been started with different values",
    )
