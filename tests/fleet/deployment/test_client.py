"""Calls of a fleet's client on real Dask workers in this process."""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import pytest
from distributed import Client, LocalCluster

from iostudy.analysis.clock_offset import Exchange
from iostudy.errors import UsageError
from iostudy.fleet.deployment.client import FleetClient, NoAnswer, find_workers
from iostudy.fleet.together.trial_calls import read_clock

pytestmark = pytest.mark.child  # Dask calls uname(1) when it starts

SECONDS = 10.0
MOST = 20
SHORT_SECONDS = 2.0
UNUSED = "tcp://127.0.0.1:9"
RELEASED = threading.Event()
MEETING = threading.Barrier(2)
"""Workers of this process share them with the test."""


@pytest.fixture(scope="module")
def fleet() -> Iterator[FleetClient]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://") as own,
        Client(own) as client,
    ):
        yield FleetClient(client, find_workers(client))


def wait_for_release() -> bool:
    return RELEASED.wait(SECONDS)


def release(delay: float) -> str:
    time.sleep(delay)
    RELEASED.set()
    return "released"


def meet(node: str) -> str:
    MEETING.wait(SECONDS)
    return node


def read_clocks(fleet: FleetClient) -> list[list[Exchange]]:
    """The exchanges with every node."""
    found = fleet.time_exchanges(fleet.nodes, read_clock, MOST, SECONDS)
    assert tuple(found) == fleet.nodes
    return [own for own in found.values() if not isinstance(own, NoAnswer)]


def fail() -> None:
    raise UsageError("a disk", found="none", where="this node", remedy="add one")


def test_a_call_that_waits_leaves_a_node_free_for_others(fleet: FleetClient) -> None:
    RELEASED.clear()
    waiter = threading.Thread(target=fleet.call, args=("0", wait_for_release, SECONDS))
    waiter.start()
    assert fleet.call("0", partial(release, 0.1), SECONDS) == "released"
    waiter.join(SECONDS)
    assert not waiter.is_alive()


def test_each_node_has_its_own_call_and_all_run_at_once(fleet: FleetClient) -> None:
    calls = {node: partial(meet, node) for node in fleet.nodes}
    assert fleet.call_all(calls, SECONDS) == {"0": "0", "1": "1"}


def test_an_error_and_a_late_answer_are_no_answers(fleet: FleetClient) -> None:
    RELEASED.clear()
    calls: dict[str, Callable[[], object]] = {"0": fail, "1": wait_for_release}
    answers = fleet.call_all(calls, SHORT_SECONDS)
    RELEASED.set()
    assert isinstance(answers["0"], NoAnswer)
    assert "a disk" in answers["0"].reason
    assert answers["1"] == NoAnswer("it is late")
    assert fleet.call("1", partial(operator.add, 1, 1), SECONDS) == 2, "the connection is new"


def test_refresh_finds_the_address_of_a_worker(fleet: FleetClient) -> None:
    moved = FleetClient(fleet._client, {"0": UNUSED})
    assert moved.call_all({"0": fail}, 0.2) == {"0": NoAnswer("it is late")}
    moved.refresh()
    assert moved.call("0", partial(operator.add, 1, 1), SECONDS) == 2


def test_a_clock_is_read_until_a_round_trip_is_short(
    fleet: FleetClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iostudy.fleet.deployment.client._SHORT_TRIP_SECONDS", SECONDS)
    assert [len(own) for own in read_clocks(fleet)] == [1, 1]
    monkeypatch.setattr("iostudy.fleet.deployment.client._SHORT_TRIP_SECONDS", 0.0)
    exchanges = read_clocks(fleet)
    assert [len(own) for own in exchanges] == [MOST, MOST]
    for own in chain.from_iterable(exchanges):
        assert own.sent <= own.received <= own.answered <= own.returned
