"""Agents of one fleet run: a process on each node that carries out the controller's calls.

Each is started by ssh or srun, whose pipes are its only connection: nothing listens, and no key has
to reach a node.
"""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from iostudy.errors import UsageError
from iostudy_fleet.deployment.client import FleetClient, open_client
from iostudy_fleet.deployment.nodes import RemoteNode

AGENT = "iostudy_fleet.agent"
ADOPT_ORPHANS = "adopt-orphans"
_WAIT_SECONDS = 60.0
"""Time for a node to start Python and load iostudy."""
_END_SECONDS = 10.0
_POLL_SECONDS = 0.2


class Agents:
    """The processes of ssh or srun that run the agent of each node."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._nodes: dict[str, RemoteNode] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, node: RemoteNode) -> None:
        """Start the agent of a node."""
        options = [ADOPT_ORPHANS] if node.kills_orphans else []
        self.processes[node.name] = subprocess.Popen(
            node.command(node.python, "-P", "-m", AGENT, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C stops the studies before it ends the connections
        )
        self._nodes[node.name] = node

    def explain(self, name: str, messages: bytes) -> str:
        """Why the agent of a node is not there, from what it has printed."""
        said = self._nodes[name].find_cause(messages.decode(errors="replace"))
        code = self.processes[name].poll()
        state = "started, and did not answer" if code is None else f"ended with {code}"
        return f"{state}: {said}"

    def close(self) -> None:
        """Wait for the agents, which end with their input; then end the connections.

        An agent that ends after its studies has as long as they need: the end of its connection
        would end what they restore.
        """
        try:
            for process in self.processes.values():
                for pipe in (process.stdin, process.stdout, process.stderr):
                    assert pipe is not None
                    pipe.close()
            late = self._wait(_END_SECONDS)
            if restoring := [name for name in late if self._nodes[name].kills_orphans]:
                self._say(
                    f"waiting for {', '.join(restoring)}: the agent there ends after its study "
                    "has restored the settings; Ctrl-C ends the wait"
                )
                for name in restoring:
                    self.processes[name].wait()
        finally:
            for process in self.processes.values():
                process.terminate()  # nothing if it has ended
            self._wait(_END_SECONDS)  # srun is left to the end of the job: it waits for the node

    def _wait(self, seconds: float) -> list[str]:
        """Wait for all agents; return those that have not ended in time."""
        end, late = time.monotonic() + seconds, list[str]()
        for name, process in self.processes.items():
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                late.append(name)
        return late


@contextmanager
def connect_to_nodes(
    nodes: Sequence[RemoteNode], say: Callable[[str], None]
) -> Iterator[FleetClient]:
    """Start an agent on each node; ``say`` gets what the end waits for."""
    agents = Agents(say)
    try:
        for node in nodes:
            agents.start(node)
        with open_client(agents.processes) as client:
            _wait_for_all(client, agents)
            yield client
    finally:
        agents.close()


def _wait_for_all(client: FleetClient, agents: Agents) -> None:
    """UsageError if an agent ends, or if no further one greets in time.

    The wait for all has no other limit: many nodes may load Python from one file system.
    """
    fewest, deadline = math.inf, 0.0
    while missing := [name for name in client.nodes if not client.find(name).is_ready]:
        if len(missing) < fewest:
            fewest, deadline = len(missing), time.monotonic() + _WAIT_SECONDS
        if time.monotonic() > deadline or any(client.find(name).ending for name in missing):
            reasons = (agents.explain(name, client.find(name).messages) for name in missing)
            lines = zip(missing, reasons, strict=True)
            raise UsageError(
                f"agents on all {len(client.nodes)} nodes, each within {_WAIT_SECONDS:g} s of the "
                "one before",
                found="".join(f"\n    {name}: {reason}" for name, reason in lines),
                where="the fleet",
                remedy="let `iostudy fleet check` pass, or leave these nodes out",
            )
        time.sleep(_POLL_SECONDS)
