"""Dask cluster of one fleet run: the scheduler in this process, a worker on each node.

Dask's SSHCluster is not used: it runs the scheduler on a node, and hands its settings to nodes in
command lines, which every user of a node can read. dask-jobqueue passes keys by files that all
nodes share.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO
from urllib.parse import urlsplit

import dask
from distributed import Client, LocalCluster
from distributed.batched import BatchedSend
from distributed.utils import get_ip

from iostudy.errors import UsageError
from iostudy.fleet.deployment.agent import AgentOrder
from iostudy.fleet.deployment.certificates import Authority
from iostudy.fleet.deployment.client import MOST_CONNECTIONS, FleetClient, wait_for_nodes
from iostudy.fleet.deployment.dask_settings import QUIET, build_security
from iostudy.fleet.deployment.nodes import RemoteNode

_WAIT_SECONDS = 60.0
"""Time for a node to start Python, load Dask and register."""
_END_SECONDS = 10.0
_AGENT = ("-m", "iostudy.fleet.deployment.agent")


class Agents:
    """The processes of ssh or srun that run a Dask worker on each node."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._nodes: dict[str, RemoteNode] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._messages: dict[str, IO[bytes]] = {}

    def start(self, node: RemoteNode, order: AgentOrder) -> None:
        """Start the worker of a node; its order, with the key, goes through stdin."""
        messages = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        process = subprocess.Popen(
            node.command(node.python, *_AGENT),
            stdin=subprocess.PIPE,
            stdout=messages,
            stderr=messages,
            start_new_session=True,  # Ctrl-C stops the studies before it ends the connections
        )
        self._messages[node.name], self._processes[node.name] = messages, process
        self._nodes[node.name] = node
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; `explain` says why
            process.stdin.write(order.model_dump_json().encode() + b"\n")
            process.stdin.flush()

    def explain(self, name: str) -> str:
        """Why the worker of a node is not there."""
        messages = self._messages[name]
        messages.seek(0)
        said = self._nodes[name].find_cause(messages.read().decode(errors="replace"))
        code = self._processes[name].poll()
        state = "started, and did not register" if code is None else f"ended with {code}"
        return f"{state}: {said}"

    def close(self) -> None:
        """Wait for the workers, which end with their scheduler; then end the connections.

        A worker that ends after its studies has as long as they need: the end of its connection
        would end what they restore.
        """
        try:
            late = self._wait(_END_SECONDS)
            if restoring := [name for name in late if self._nodes[name].kills_orphans]:
                self._say(
                    f"waiting for {', '.join(restoring)}: the worker there ends after its study "
                    "has restored the settings; Ctrl-C ends the wait"
                )
                for name in restoring:
                    self._processes[name].wait()
        finally:
            for process in self._processes.values():
                process.terminate()  # nothing if it has ended
            self._wait(_END_SECONDS)  # srun is left to the end of the job: it waits for the node
            for name, process in self._processes.items():
                assert process.stdin is not None
                process.stdin.close()
                self._messages[name].close()

    def _wait(self, seconds: float) -> list[str]:
        """Wait for all workers; return those that have not ended in time."""
        end, late = time.monotonic() + seconds, list[str]()
        for name, process in self._processes.items():
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                late.append(name)
        return late


@contextmanager
def connect_to_nodes(
    nodes: Sequence[RemoteNode], study: str, listen: str | None, say: Callable[[str], None]
) -> Iterator[FleetClient]:
    """Start a scheduler here and a worker on each node, with certificates for this run alone.

    ``say`` gets what the end waits for.
    """
    authority = Authority(study)
    host = listen or _find_own_address(nodes[0])
    agents = Agents(say)
    try:
        with (
            dask.config.set(QUIET),
            LocalCluster(
                n_workers=0,
                host=host,
                protocol="tls://",
                security=build_security(authority.issue("controller")),
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster, connection_limit=MOST_CONNECTIONS) as client,
        ):
            scheduler = urlsplit(cluster.scheduler_address)
            assert scheduler.hostname and scheduler.port
            for node in nodes:
                order = AgentOrder(
                    node=node.name,
                    scheduler=cluster.scheduler_address,
                    host=scheduler.hostname,
                    port=scheduler.port,
                    identity=authority.issue(node.name),
                    wait_seconds=_WAIT_SECONDS,
                    kills_orphans=node.kills_orphans,
                )
                agents.start(node, order)
            names = [node.name for node in nodes]
            found = wait_for_nodes(client, names, _WAIT_SECONDS, agents.explain)
            try:
                yield FleetClient(client, found)
            finally:
                client.sync(_abort_stuck, cluster.scheduler.stream_comms)
    finally:
        agents.close()


async def _abort_stuck(connections: Mapping[str, BatchedSend]) -> None:
    """End connections to nodes that take no data: Dask would wait for them when it closes."""
    for connection in list(connections.values()):
        comm = connection.comm
        if comm is not None and not comm.closed() and comm.stream.writing():
            connection.abort()


def _find_own_address(node: RemoteNode) -> str:
    """The address of this host by which it reaches a node."""
    address = node.find_address()
    try:
        return str(get_ip(socket.gethostbyname(address)))
    except OSError as error:
        raise UsageError(
            "an address of this host that nodes can reach",
            found=f"{address}: {error.strerror or error}",
            where=node.name,
            remedy="name it with --listen ADDRESS",
        ) from error
