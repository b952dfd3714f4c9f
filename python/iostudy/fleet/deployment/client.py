"""Connection of the controller to the Dask workers of all nodes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import cloudpickle
from distributed import Client
from distributed.core import clean_exception
from distributed.protocol.pickle import dumps

from iostudy.analysis.clock_offset import Exchange
from iostudy.errors import IostudyError, RecordError, UsageError

T = TypeVar("T")
_POLL_SECONDS = 0.2
_CLOCKS_AT_ONCE = 2
"""Clocks that are read at the same time. More of them would lengthen the shortest round trips."""
_SHORT_TRIP_SECONDS = 0.002
"""A round trip that is short enough: the offset is then exact to 1 ms."""
MOST_CONNECTIONS = 4096
"""Connections to workers at the same time: a call may hold one for a quarter of the lease."""
_TO_THREAD = dumps(asyncio.to_thread)


@dataclass(frozen=True)
class NoAnswer:
    """The reason why a node gave no answer: none in time, or an error there."""

    reason: str


class FleetClient:
    """Calls functions on nodes by name, over a connection to each worker.

    Tasks of Dask's scheduler take about four times the CPU time, and one of a lost worker waits for
    ever (dask/distributed issue 7346).
    """

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
        """Run a function in a thread of each node; return the answers that come in time."""
        questions = {
            node: partial(self._run, self._addresses[node], cloudpickle.dumps((call,)))
            for node, call in calls.items()
        }
        return self._ask_all(questions, seconds, at_once=len(questions))

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
        most: int,
        seconds: float,
    ) -> dict[str, list[Exchange] | NoAnswer]:
        """Ask each node for its clock, so many times at most, until a round trip is short.

        It ends early if a node does not answer: nobody needs the other clocks without that one.
        """
        function, end = dumps(read_clock), time.monotonic() + seconds
        found: dict[str, list[Exchange]] = {node: [] for node in nodes}
        due: list[str] = list(nodes)
        silent: dict[str, NoAnswer] = {}
        for _ in range(most):
            questions = {
                node: partial(self._exchange, self._addresses[node], function) for node in due
            }
            left = max(0.0, end - time.monotonic())
            for node, own in self._ask_all(questions, left, at_once=_CLOCKS_AT_ONCE).items():
                if isinstance(own, NoAnswer):
                    silent[node] = own
                else:
                    found[node].append(own)
            due = [node for node in due if not _is_precise(found[node])]
            if silent or not due:
                break
        return {node: own or silent[node] for node, own in found.items()}

    def _ask_all(
        self, questions: Mapping[str, Callable[[], Awaitable[T]]], seconds: float, *, at_once: int
    ) -> dict[str, T | NoAnswer]:
        answers: dict[str, T | NoAnswer]
        answers = self._client.sync(_collect, questions, seconds, at_once)
        return answers

    async def _run(self, address: str, call: bytes) -> Any:
        """Run a pickled function; the worker's event loop stays free for other calls."""
        return _unpack(await self._client.rpc(address).run(function=_TO_THREAD, args=call))

    async def _exchange(self, address: str, read_clock: bytes) -> Exchange:
        worker, sent = self._client.rpc(address), time.monotonic()
        received, answered = _unpack(await worker.run(function=read_clock))
        return Exchange(sent, received, answered, time.monotonic())


async def _collect(
    questions: Mapping[str, Callable[[], Awaitable[T]]], seconds: float, at_once: int
) -> dict[str, T | NoAnswer]:
    """Ask so many nodes at a time; the time is that for the answers of all."""
    limit, end = asyncio.Semaphore(at_once), time.monotonic() + seconds

    async def ask(question: Callable[[], Awaitable[T]]) -> T | NoAnswer:
        async with limit:
            try:
                return await asyncio.wait_for(question(), max(0.0, end - time.monotonic()))
            except TimeoutError as error:
                return NoAnswer(describe_error(error) if str(error) else "it is late")
            except Exception as error:  # noqa: BLE001 - whatever a node raises, it is no answer
                return NoAnswer(describe_error(error))

    answers = await asyncio.gather(*map(ask, questions.values()))
    return dict(zip(questions, answers, strict=True))


def _unpack(response: dict[str, Any]) -> Any:
    """The value of a function on a worker; its error is raised."""
    if response["status"] == "OK":
        return response["result"]
    _, error, _ = clean_exception(**response)
    assert error is not None
    raise error


def _is_precise(exchanges: Collection[Exchange]) -> bool:
    return any(own.round_trip <= _SHORT_TRIP_SECONDS for own in exchanges)


def describe_error(error: BaseException) -> str:
    """One line about an error of a call or of the connection."""
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
    """The addresses of all nodes; UsageError if no further one registers for ``seconds``.

    ``explain`` says why a node is missing. The wait for all has no other limit: many nodes may load
    Python from one file system.
    """
    expected, fewest, deadline = tuple(names), math.inf, 0.0
    while True:
        found = find_workers(client)
        missing = [name for name in expected if name not in found]
        if not missing:
            return {name: found[name] for name in expected}
        if len(missing) < fewest:
            fewest, deadline = len(missing), time.monotonic() + seconds
        if time.monotonic() > deadline:
            lines = "".join(f"\n    {name}: {explain(name)}" for name in missing)
            raise UsageError(
                f"all {len(expected)} nodes, each within {seconds:g} s of the one before",
                found=lines,
                where="the fleet",
                remedy="let the nodes open TCP connections to this host and this host to them "
                "(--listen names its address), or leave these nodes out",
            )
        time.sleep(_POLL_SECONDS)
