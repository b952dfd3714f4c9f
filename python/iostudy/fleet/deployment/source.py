"""Sources of a fleet's nodes: hosts by ssh or Slurm, or the workers of a Dask scheduler."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, assert_never

from iostudy.fleet.deployment.client import FleetClient
from iostudy.fleet.deployment.inventory import read_nodes
from iostudy.fleet.deployment.node_cluster import connect_to_nodes
from iostudy.fleet.deployment.node_probe import PROBE_SECONDS, probe_nodes
from iostudy.fleet.deployment.nodes import RemoteNode, build_nodes, require_ssh
from iostudy.fleet.deployment.readiness import NodeFacts, Readiness
from iostudy.fleet.deployment.scheduler import connect_to_scheduler, probe_workers
from iostudy.fleet.deployment.slurm import allocate
from iostudy.study.fleet_nodes import (
    FleetNodes,
    InventoryHosts,
    SchedulerWorkers,
    SlurmJob,
    SshHosts,
)


class NodeSource(Protocol):
    """A set of nodes that give facts and accept a connection."""

    def probe(self, study: str, text: str) -> Mapping[str, NodeFacts | Readiness]:
        """The facts of each node, or why there are none; a study with a text is checked there."""

    def install_command(self, node: str, requirement: str) -> str:
        """The line that installs a requirement on a node."""

    def select(self, names: Collection[str]) -> NodeSource:
        """The source with these nodes only."""

    def connect(self, study: str) -> AbstractContextManager[FleetClient]:
        """Connect to the nodes."""


@dataclass(frozen=True)
class HostSource:
    """Hosts on which this one starts workers; they connect to its address ``listen``.

    ``say`` gets what the end of a run waits for.
    """

    nodes: tuple[RemoteNode, ...]
    listen: str | None
    say: Callable[[str], None]

    def probe(self, study: str, text: str) -> Mapping[str, NodeFacts | Readiness]:
        """As `NodeSource` says."""
        return probe_nodes(self.nodes, study, text)

    def install_command(self, node: str, requirement: str) -> str:
        """As `NodeSource` says."""
        return next(own for own in self.nodes if own.name == node).install_command(requirement)

    def select(self, names: Collection[str]) -> HostSource:
        """As `NodeSource` says."""
        return replace(self, nodes=tuple(own for own in self.nodes if own.name in names))

    def connect(self, study: str) -> AbstractContextManager[FleetClient]:
        """As `NodeSource` says."""
        return connect_to_nodes(self.nodes, study, self.listen, self.say)


@dataclass(frozen=True)
class SchedulerSource:
    """Named workers of a scheduler; ``names`` are those of a selection."""

    address: str
    names: tuple[str, ...] | None = None

    def probe(self, study: str, text: str) -> Mapping[str, NodeFacts | Readiness]:
        """As `NodeSource` says."""
        with self.connect(study) as client:
            return probe_workers(client, study, text, PROBE_SECONDS)

    def install_command(self, node: str, requirement: str) -> str:
        """As `NodeSource` says, for a shell on the node."""
        return f"on {node}: {shlex.join(['pip', 'install', requirement])}"

    def select(self, names: Collection[str]) -> SchedulerSource:
        """As `NodeSource` says."""
        return replace(self, names=tuple(names))

    def connect(self, study: str) -> AbstractContextManager[FleetClient]:
        """As `NodeSource` says."""
        return connect_to_scheduler(self.address, self.names)


@contextmanager
def open_source(
    nodes: FleetNodes, resumed: Sequence[str] | None, say: Callable[[str], None]
) -> Iterator[NodeSource]:
    """The source that a study or a command line describes; UsageError if it has no nodes.

    A batch system gives its nodes until the end: those that are ``resumed``, or any if that is
    None. ``say`` gets the reason why they are late, and what the end of a run waits for.
    """
    python, sudo = nodes.python or sys.executable, nodes.sudo
    match nodes.origin:
        case SshHosts(hosts):
            require_ssh()
            yield HostSource(build_nodes(hosts, python=python, sudo=sudo), nodes.listen, say)
        case InventoryHosts(file, limit):
            require_ssh()
            yield HostSource(read_nodes(file, limit, python=python, sudo=sudo), nodes.listen, say)
        case SchedulerWorkers(address):
            yield SchedulerSource(address)
        case SlurmJob() if resumed == ():
            yield HostSource((), nodes.listen, say)
        case SlurmJob() as job:
            with allocate(job, resumed or (), say, python=python, sudo=sudo) as allocated:
                yield HostSource(allocated, nodes.listen, say)
        case unreachable:
            assert_never(unreachable)
