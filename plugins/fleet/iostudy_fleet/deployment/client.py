"""Connection of the controller to the agents of all nodes."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, TypeVar

from iostudy.errors import RecordError
from iostudy_fleet.clock_offset import Exchange
from iostudy_fleet.deployment.call_messages import (
    GREETING,
    MOST_ANSWER_BYTES,
    CallAnswer,
    encode_request,
)

T = TypeVar("T")
_CLOCKS_AT_ONCE = 2
"""Clocks that are read at the same time. More of them would lengthen the shortest round trips."""
_SHORT_TRIP_SECONDS = 0.002
"""A round trip that is short enough: the offset is then exact to 1 ms."""
_MOST_LINES_BEFORE = 1000
"""Lines of a login shell before the greeting of an agent."""
_MOST_UNSENT_BYTES = 1 << 20
"""Requests that wait for a connection that takes no data."""
_MESSAGES_BYTES = 64 << 10
"""Of a node's messages, the end that is kept."""


@dataclass(frozen=True)
class NoAnswer:
    """The reason why a node gave no answer: none in time, or an error there."""

    reason: str


class NodeConnection:
    """The pipes to the agent of a node; a line that is no answer of an agent ends it."""

    def __init__(self) -> None:
        self.messages = b""
        self.is_ready = False
        self.ending = ""
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[CallAnswer]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._requests: asyncio.WriteTransport | None = None

    async def open(self, process: subprocess.Popen[bytes]) -> None:
        """Use the pipes of the program that runs the agent."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        loop = asyncio.get_running_loop()
        self._requests, _ = await loop.connect_write_pipe(asyncio.Protocol, process.stdin)
        self._transports.append(self._requests)
        self._tasks = [
            asyncio.create_task(self._receive(await self._open_reader(process.stdout))),
            asyncio.create_task(self._keep_messages(await self._open_reader(process.stderr))),
        ]

    async def ask(self, call: partial[T]) -> T | NoAnswer:
        """Call a function on the node."""
        assert self._requests is not None
        if self.ending or self._requests.is_closing():
            return NoAnswer(self.ending or "its connection has ended")
        if self._requests.get_write_buffer_size() > _MOST_UNSENT_BYTES:
            return NoAnswer("its connection takes no data")
        number = next(self._numbers)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._requests.write(encode_request(number, call))
            answer = await waiting
        except ConnectionError as error:
            return NoAnswer(str(error))
        finally:
            del self._waiting[number]
        if answer.error is not None:
            return NoAnswer(answer.error)
        try:
            value: T = answer.read_value(call)
        except ValueError as error:
            return NoAnswer(f"its answer is none of {call.func.__name__}: {error}")
        return value

    async def close(self) -> None:
        """End the connection; the agent ends at the end of its input."""
        self._close_transports()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _open_reader(self, pipe: IO[bytes]) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=MOST_ANSWER_BYTES)
        loop, protocol = asyncio.get_running_loop(), asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
        self._transports.append(transport)
        return reader

    async def _receive(self, lines: asyncio.StreamReader) -> None:
        try:
            await self._find_greeting(lines)
            while line := await lines.readline():
                answer = CallAnswer.model_validate_json(line)
                waiting = self._waiting.get(answer.number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
            ending = "its agent has ended"
        except ValueError:  # also a line that is too long
            ending = "its agent sent what is no answer"
        self._end(ending)

    async def _find_greeting(self, lines: asyncio.StreamReader) -> None:
        for _ in range(_MOST_LINES_BEFORE):
            line = await lines.readline()
            if line == GREETING:
                self.is_ready = True
                return
            if not line:
                return
        raise ValueError

    def _end(self, ending: str) -> None:
        self.ending = ending
        self._close_transports()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError(ending))

    def _close_transports(self) -> None:
        for transport in self._transports:
            if transport.is_closing():
                continue
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()  # what a cut link has not taken would be waited for
            else:
                transport.close()

    async def _keep_messages(self, messages: asyncio.StreamReader) -> None:
        while piece := await messages.read(_MESSAGES_BYTES):
            self.messages = (self.messages + piece)[-_MESSAGES_BYTES:]


class FleetClient:
    """Calls functions of the agents by name; what they answer is data, and is checked.

    All connections are served by an event loop in a thread of its own.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connections: Mapping[str, NodeConnection]
    ) -> None:
        self._loop = loop
        self._connections = connections

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(self._connections)

    def find(self, node: str) -> NodeConnection:
        """The connection to a node."""
        return self._connections[node]

    def call_all(self, calls: Mapping[str, partial[T]], seconds: float) -> dict[str, T | NoAnswer]:
        """Call a function on each node; return the answers that come in time."""
        questions = {
            node: partial(self._connections[node].ask, call) for node, call in calls.items()
        }
        return self._ask_all(questions, seconds, at_once=len(questions))

    def call(self, node: str, call: partial[T], seconds: float) -> T:
        """Call a function on a node; RecordError without its answer."""
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
        end = time.monotonic() + seconds
        exchanges: dict[str, list[Exchange]] = {node: [] for node in nodes}
        due: list[str] = list(nodes)
        silent: dict[str, NoAnswer] = {}
        for _ in range(most):
            questions = {
                node: partial(_exchange, self._connections[node], partial(read_clock))
                for node in due
            }
            left = max(0.0, end - time.monotonic())
            for node, answer in self._ask_all(questions, left, at_once=_CLOCKS_AT_ONCE).items():
                if isinstance(answer, NoAnswer):
                    silent[node] = answer
                else:
                    exchanges[node].append(answer)
            due = [node for node in due if not _is_precise(exchanges[node])]
            if silent or not due:
                break
        return {node: answer or silent[node] for node, answer in exchanges.items()}

    def _ask_all(
        self,
        questions: Mapping[str, Callable[[], Awaitable[T | NoAnswer]]],
        seconds: float,
        *,
        at_once: int,
    ) -> dict[str, T | NoAnswer]:
        return run_in(self._loop, _collect(questions, seconds, at_once))


async def _exchange(
    connection: NodeConnection, read_clock: partial[tuple[float, float]]
) -> Exchange | NoAnswer:
    sent = time.monotonic()
    answer = await connection.ask(read_clock)
    returned = time.monotonic()
    if isinstance(answer, NoAnswer):
        return answer
    received, answered = answer
    if not 0 <= answered - received <= returned - sent:
        return NoAnswer(f"its clock took {answered - received:g} s of {returned - sent:g} s")
    return Exchange(sent, received, answered, returned)


async def _collect(
    questions: Mapping[str, Callable[[], Awaitable[T | NoAnswer]]], seconds: float, at_once: int
) -> dict[str, T | NoAnswer]:
    """Ask so many nodes at a time; the time is that for the answers of all."""
    limit, end = asyncio.Semaphore(at_once), time.monotonic() + seconds

    async def ask(question: Callable[[], Awaitable[T | NoAnswer]]) -> T | NoAnswer:
        async with limit:
            try:
                return await asyncio.wait_for(question(), max(0.0, end - time.monotonic()))
            except TimeoutError:
                return NoAnswer("it is late")

    answers = await asyncio.gather(*map(ask, questions.values()))
    return dict(zip(questions, answers, strict=True))


def _is_precise(exchanges: Collection[Exchange]) -> bool:
    return any(exchange.round_trip <= _SHORT_TRIP_SECONDS for exchange in exchanges)


@contextmanager
def open_client(processes: Mapping[str, subprocess.Popen[bytes]]) -> Iterator[FleetClient]:
    """Serve the pipes of these programs, each of which runs the agent of a node."""
    connections = {name: NodeConnection() for name in processes}
    with _loop_in_thread() as loop:
        try:
            for name, process in processes.items():
                run_in(loop, connections[name].open(process))
            yield FleetClient(loop, connections)
        finally:
            for connection in connections.values():
                run_in(loop, connection.close())


def run_in(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop of another thread; return its result."""
    return asyncio.run_coroutine_threadsafe(work, loop).result()


@contextmanager
def _loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
