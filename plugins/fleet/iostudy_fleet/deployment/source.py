"""Source of a fleet's nodes: hosts by ssh or Slurm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import assert_never

from iostudy_fleet.deployment.agents import connect_to_nodes
from iostudy_fleet.deployment.client import FleetClient
from iostudy_fleet.deployment.inventory import read_nodes
from iostudy_fleet.deployment.node_probe import probe_nodes
from iostudy_fleet.deployment.nodes import RemoteNode, build_nodes, require_ssh
from iostudy_fleet.deployment.readiness import NodeFacts, Readiness
from iostudy_fleet.deployment.slurm import allocate
from iostudy_fleet.study.section import FleetNodes, InventoryHosts, SlurmJob, SshHosts


@dataclass(frozen=True)
class NodeSource:
    """Hosts on which this one can run programs; ``say`` gets what the end of a run waits for."""

    nodes: tuple[RemoteNode, ...]
    say: Callable[[str], None]

    def probe(self, study: str, text: str) -> Mapping[str, NodeFacts | Readiness]:
        """The facts of each node, or why there are none; a study with a text is checked there."""
        return probe_nodes(self.nodes, study, text)

    def install_command(self, node: str, requirement: str) -> str:
        """The line that installs a requirement on a node."""
        return next(
            candidate for candidate in self.nodes if candidate.name == node
        ).install_command(requirement)

    def select(self, names: Collection[str]) -> NodeSource:
        """The source with these nodes only."""
        return replace(self, nodes=tuple(node for node in self.nodes if node.name in names))

    def connect(self) -> AbstractContextManager[FleetClient]:
        """Connect to the nodes."""
        return connect_to_nodes(self.nodes, self.say)


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
            yield NodeSource(build_nodes(hosts, python=python, sudo=sudo), say)
        case InventoryHosts(file, limit):
            require_ssh()
            yield NodeSource(read_nodes(file, limit, python=python, sudo=sudo), say)
        case SlurmJob() if resumed == ():
            yield NodeSource((), say)
        case SlurmJob() as job:
            with allocate(job, resumed or (), say, python=python, sudo=sudo) as allocated:
                yield NodeSource(allocated, say)
        case unreachable:
            assert_never(unreachable)
