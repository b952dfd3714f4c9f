"""Calls of a fleet's client to agents in processes of their own, and to what is no agent."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain

import pytest

from iostudy.errors import RecordError
from iostudy_fleet.clock_offset import Exchange
from iostudy_fleet.deployment import client as client_module
from iostudy_fleet.deployment.call_messages import MOST_ANSWER_BYTES
from iostudy_fleet.deployment.client import FleetClient, NoAnswer, open_client
from iostudy_fleet.together.trial_calls import read_clock
from tests.plugins.fleet.small_study import wait_until
from tests.plugins.fleet.waiting_agent import (
    fail,
    print_noise,
    release,
    return_much,
    wait_for_release,
)

pytestmark = pytest.mark.child

SECONDS = 60.0
MOST = 20
SHORT_SECONDS = 0.5
GREETING = "echo noise of a shell; echo 'iostudy fleet agent 1'; "


def connect(stack: ExitStack, *commands: list[str]) -> FleetClient:
    """A client of these programs, which are named by their numbers."""
    processes = {}
    for number, command in enumerate(commands):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        processes[str(number)] = stack.enter_context(process)
        stack.callback(process.kill)
    fleet = stack.enter_context(open_client(processes))
    wait_until(lambda: all(fleet.find(node).is_ready for node in fleet.nodes))
    return fleet


@pytest.fixture(scope="module")
def fleet() -> Iterator[FleetClient]:
    with ExitStack() as stack:
        agent = [sys.executable, "-m", "tests.plugins.fleet.waiting_agent"]
        yield connect(stack, agent, agent)


def ask_shell(script: str) -> object:
    """The answer to one call of a shell that has greeted as an agent."""
    with ExitStack() as stack:
        fleet = connect(stack, ["sh", "-c", f"{GREETING}{script}"])
        return fleet.call_all({"0": partial(read_clock)}, SECONDS)["0"]


def read_clocks(fleet: FleetClient) -> list[list[Exchange]]:
    """The exchanges with every node."""
    found = fleet.time_exchanges(fleet.nodes, read_clock, MOST, SECONDS)
    assert tuple(found) == fleet.nodes
    return [own for own in found.values() if not isinstance(own, NoAnswer)]


def test_a_call_that_waits_leaves_a_node_free_for_others(fleet: FleetClient) -> None:
    waiter = threading.Thread(target=fleet.call, args=("0", partial(wait_for_release), SECONDS))
    waiter.start()
    assert fleet.call("0", partial(release, 0.1), SECONDS) == "released"
    waiter.join(SECONDS)
    assert not waiter.is_alive()


def test_an_error_and_a_late_answer_are_no_answers(fleet: FleetClient) -> None:
    (wrong,) = fleet.call_all({"0": partial(fail)}, SECONDS).values()
    assert isinstance(wrong, NoAnswer)
    assert "a disk" in wrong.reason
    late = fleet.call_all({"1": partial(wait_for_release)}, SHORT_SECONDS)
    assert late == {"1": NoAnswer("it is late")}
    assert fleet.call("1", partial(release, 0), SECONDS) == "released", "the next one comes"
    with pytest.raises(RecordError, match="a disk"):
        fleet.call("0", partial(fail), SECONDS)


def test_what_a_node_prints_is_no_answer(fleet: FleetClient) -> None:
    assert fleet.call("0", partial(print_noise), SECONDS) == "printed"
    assert b"forged" in fleet.find("0").messages


def test_an_answer_has_a_largest_size(fleet: FleetClient) -> None:
    assert len(fleet.call("0", partial(return_much, 1 << 20), SECONDS)) == 1 << 20
    with pytest.raises(RecordError, match=f"of which {MOST_ANSWER_BYTES} may be sent"):
        fleet.call("0", partial(return_much, MOST_ANSWER_BYTES), SECONDS)


def test_a_function_that_is_none_of_an_agent_is_not_called(fleet: FleetClient) -> None:
    with pytest.raises(RecordError, match="KeyError: 'eval'"):
        fleet.call("0", partial(eval, "1"), SECONDS)


def test_a_clock_is_read_until_a_round_trip_is_short(
    fleet: FleetClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_SHORT_TRIP_SECONDS", SECONDS)
    assert [len(own) for own in read_clocks(fleet)] == [1, 1]
    monkeypatch.setattr(client_module, "_SHORT_TRIP_SECONDS", 0.0)
    exchanges = read_clocks(fleet)
    assert [len(own) for own in exchanges] == [MOST, MOST]
    for own in chain.from_iterable(exchanges):
        assert own.sent <= own.received <= own.answered <= own.returned


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo nonsense; cat", "sent what is no answer"),
        ("yes | tr -d '\\n'", "sent what is no answer"),
        ("true", "has ended"),
        ("""read _; echo '{"number": 0, "value": [1, 2, 3]}'; cat""", "none of read_clock"),
        ("""read _; echo '{"number": 0, "value": [1, Infinity]}'; cat""", "not finite"),
        ("""read _; echo '{"number": 0, "value": [1, 1e999]}'; cat""", "not finite"),
        (f"""read _; echo '{{"number": 0, "value": {"[" * 40 + "]" * 40}}}'; cat""", "deeper"),
        (f"""read _; echo '{{"number": 0, "value": {"[" * 999 + "]" * 999}}}'; cat""", "no answer"),
    ],
)
def test_what_is_no_answer_is_never_used(script: str, reason: str):
    answer = ask_shell(script)
    assert isinstance(answer, NoAnswer)
    assert reason in answer.reason


def test_a_clock_that_cannot_be_is_no_exchange():
    answer = """read _; echo '{"number": 0, "value": [0, 1e300]}'; cat"""
    with ExitStack() as stack:
        fleet = connect(stack, ["sh", "-c", f"{GREETING}{answer}"])
        (found,) = fleet.time_exchanges(["0"], read_clock, 1, SECONDS).values()
    assert isinstance(found, NoAnswer)


def test_a_connection_that_takes_no_data_is_given_up():
    with ExitStack() as stack:
        fleet = connect(stack, ["sh", "-c", f"{GREETING}exec sleep {SECONDS}"])
        long = partial(release, "x" * (2 << 20))
        answers = [fleet.call_all({"0": long}, SHORT_SECONDS)["0"] for _ in range(3)]
    assert answers == [NoAnswer("it is late"), *2 * [NoAnswer("its connection takes no data")]]
