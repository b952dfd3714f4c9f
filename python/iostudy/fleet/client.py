"""Connection of the controller to the Dask workers of all nodes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from distributed import Client, Future
from distributed.protocol.pickle import dumps

from iostudy.analysis.clock_offset import Exchange
from iostudy.errors import IostudyError, RecordError, UsageError

T = TypeVar("T")
_POLL_SECONDS = 0.05
_CLOCKS_AT_ONCE = 20
"""Clocks that are read at the same time. More of them would lengthen the shortest round trips."""
_GATHER_SECONDS = 10.0
"""Time to fetch an answer that the node has."""


@dataclass(frozen=True)
class NoAnswer:
    """The reason why a node gave no answer: none in time, or an error there."""

    reason: str


class FleetClient:
    """Sends tasks to nodes by name."""

    def __init__(self, client: Client, addresses: Mapping[str, str]) -> None:
        self._client = client
        self._addresses = dict(addresses)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(self._addresses)

    def refresh(self) -> None:
        """Follow workers that have registered again under another address."""
        found = find_workers(self._client)
        self._addresses.update((name, found[name]) for name in self.nodes if name in found)

    def call_all(
        self, calls: Mapping[str, Callable[[], T]], seconds: float
    ) -> dict[str, T | NoAnswer]:
        """Run a function on each node; return the answers that come in time, by node."""
        answers = {node: self._send(node, call) for node, call in calls.items()}
        end = time.monotonic() + seconds
        while time.monotonic() < end and not all(answer.done() for answer in answers.values()):
            time.sleep(_POLL_SECONDS)
        return {node: _take(answer) for node, answer in answers.items()}

    def call(self, node: str, call: Callable[[], T], seconds: float) -> T:
        """Run a function on a node; RecordError without its answer."""
        answer = self.call_all({node: call}, seconds)[node]
        if isinstance(answer, NoAnswer):
            raise RecordError(
                "an answer of the node",
                found=answer.reason,
                where=node,
                remedy="its results remain there; --resume fetches them",
            )
        return answer

    def time_exchanges(
        self,
        nodes: Collection[str],
        read_clock: Callable[[], tuple[float, float]],
        count: int,
        seconds: float,
    ) -> dict[str, list[Exchange] | NoAnswer]:
        """Ask each node for its clock some times, one after the other.

        No scheduler is in between, which doubles the round trip and quadruples the CPU time.
        """
        found: dict[str, list[Exchange] | NoAnswer] = self._client.sync(
            self._exchange_with_all, nodes, dumps(read_clock), count, seconds
        )
        return found

    async def _exchange_with_all(
        self, nodes: Collection[str], read_clock: bytes, count: int, seconds: float
    ) -> dict[str, list[Exchange] | NoAnswer]:
        limit = asyncio.Semaphore(_CLOCKS_AT_ONCE)

        async def exchange(node: str) -> list[Exchange] | NoAnswer:
            async with limit:
                exchanges = self._exchange(self._addresses[node], read_clock, count)
                try:
                    return await asyncio.wait_for(exchanges, seconds)
                except Exception as error:  # noqa: BLE001 - whatever a node raises, it is no answer
                    return NoAnswer(describe_error(error))

        return dict(zip(nodes, await asyncio.gather(*map(exchange, nodes)), strict=True))

    async def _exchange(self, address: str, read_clock: bytes, count: int) -> list[Exchange]:
        worker, exchanges = self._client.rpc(address), []
        for _ in range(count):
            sent = time.monotonic()
            received, answered = (await worker.run(function=read_clock))["result"]
            exchanges.append(Exchange(sent, received, answered, time.monotonic()))
        return exchanges

    def _send(self, node: str, call: Callable[[], T]) -> Future[T]:
        """Run a function on that node and on no other, once.

        A task of a lost worker waits for ever (dask/distributed issue 7346).
        """
        sent: Future[T] = self._client.submit(
            call,
            workers=[self._addresses[node]],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        return sent


def _take(answer: Future[Any]) -> Any | NoAnswer:
    """The answer if it is there; give it up otherwise."""
    try:
        if answer.done():
            return answer.result(_GATHER_SECONDS)
    except Exception as error:  # noqa: BLE001 - whatever a node raises, it is no answer
        return NoAnswer(describe_error(error))
    finally:
        answer.release()
    return NoAnswer("it is late")


def describe_error(error: BaseException) -> str:
    """One line about an error of a task or of the connection."""
    text = " ".join(str(error).split())
    if isinstance(error, IostudyError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def find_workers(client: Client) -> dict[str, str]:
    """The address of each worker by its name."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return {str(own["name"]): address for address, own in workers.items()}


def wait_for_nodes(
    client: Client, names: Iterable[str], seconds: float, explain: Callable[[str], str]
) -> dict[str, str]:
    """The addresses of all nodes; UsageError with an explanation for each that does not come."""
    expected, deadline = tuple(names), time.monotonic() + seconds
    while True:
        found = find_workers(client)
        missing = [name for name in expected if name not in found]
        if not missing:
            return {name: found[name] for name in expected}
        if time.monotonic() > deadline:
            lines = "".join(f"\n    {name}: {explain(name)}" for name in missing)
            raise UsageError(
                f"all {len(expected)} nodes within {seconds:g} s",
                found=lines,
                where="the fleet",
                remedy="let the nodes open TCP connections to this host and this host to them "
                "(--listen names its address), or leave these nodes out",
            )
        time.sleep(_POLL_SECONDS)
