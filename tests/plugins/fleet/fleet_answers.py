"""Answers of hostile nodes: data of the right types, or none; and no pickle is ever loaded."""

from __future__ import annotations

import json
import os
import pickle
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic_core import to_json

from iostudy.errors import IostudyError
from iostudy.node.protocol import Span
from iostudy_fleet.agent import FUNCTIONS
from iostudy_fleet.clock_offset import ClockOffset
from iostudy_fleet.deployment.call_messages import MOST_ANSWER_BYTES, CallAnswer
from iostudy_fleet.design import Design
from iostudy_fleet.replicate.transfer import fetch_folder
from iostudy_fleet.supervision.node_study import NodeStatus, ResultFile
from iostudy_fleet.supervision.work_folder import Ending, EndReason
from iostudy_fleet.together import trial_calls
from iostudy_fleet.together.joint_trial import join_trials
from iostudy_fleet.together.node import read_value
from iostudy_fleet.together.trial_messages import (
    Answer,
    NodeError,
    NodeTrial,
    Outcome,
    ServerPhase,
)
from tests.attack.campaign import AttackCount, attempts
from tests.plugins.fleet.hostile_agent import SEED, mutate, mutate_line
from tests.plugins.fleet.hosts import AGENT, Hosts
from tests.plugins.fleet.small_study import run_arguments, write_study

MOST_MUTANTS = 20_000
MOST_RUNS = 12
TRIAL = NodeTrial(
    figures={"aggregate": 1.0, "bytes": 100.0},
    settings={"vm.swappiness": "1"},
    machine={"%steal": 0.0, "cores": 2.0, "foreign_%cpu": 1.0, "longest_gap_s": 0.1},
    phases={"run": 1.0},
    notes=("a note",),
    latencies={"read": ((1.0, 5), (2.0, 1))},
    departures=(),
    span=Span(10.0, 11.0),
)
IN_PLACE_OF_AGENT = f"""\
import sys
if {AGENT!r} in sys.orig_argv:
    import os
    from tests.plugins.fleet.hostile_agent import main
    os._exit(main())
"""
TARGET: dict[str, Any] = {"description": "d", "devices": [], "identity": [], "on": {}, "notes": []}
ERROR = NodeError("WorkloadError", "w", "f", "here", "r")
ENDED = NodeStatus(
    running=False, ending=Ending(exit_code=0, reason=EndReason.FINISHED), line="done"
)
VALUES: Mapping[str, Any] = {
    "begin": "",
    "contact": ENDED,
    "list_results": (ResultFile("ledger.sqlite", 3, "0" * 64), ResultFile("a/b", 0, "1" * 64)),
    "read_piece": "AAAA",
    "remove": None,
    "carry": Answer(ServerPhase.DONE, Outcome(TRIAL, ERROR), "line"),
    "read_clock": (1.0, 2.0),
}
"""A right answer to each call."""
METHODS: Mapping[str, Any] = {
    "open": "/shared/own",
    "list_unseen": ["n2"],
    "offered": ("bfq", "none"),
    "preflight": {"a": ERROR},
    "circumstances": {
        "host": {"cpu": {"cores": 2}},
        "versions": {"iostudy": "1"},
        "target": TARGET,
    },
    "begin_block": None,
    "trial": TRIAL,
    "end_block": None,
}
"""A right value of each method that the server of trials calls."""


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Mutated answers to each call, then whole runs with a hostile node."""
    chance = random.Random(seed)
    counts = {name: AttackCount(f"fleet: answers to {name}") for name in (*VALUES, *METHODS)}
    with no_pickle():
        for _ in attempts(seconds / 2, MOST_MUTANTS):
            name = chance.choice(list(counts))
            counts[name].record(failure(chance, name))
    runs = AttackCount("fleet: runs with a hostile node")
    for number in attempts(seconds / 2, MOST_RUNS):
        design = list(Design)[number % 2]
        runs.record(run_failure(seed + number, design))
    return [*counts.values(), runs]


@contextmanager
def no_pickle() -> Iterator[None]:
    """Let every load of a pickle fail."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pickle is loaded")

    with patch.object(pickle, "loads", refuse), patch.object(pickle, "load", refuse):
        yield


def failure(chance: random.Random, name: str) -> str:
    """What is wrong with how a mutant of a right answer is taken; empty if nothing is."""
    right = json.loads(to_json(VALUES[name] if name in VALUES else METHODS[name]))
    value = mutate(chance, right)
    line = to_json({"number": 1, "value": value}) + b"\n"
    if chance.random() < 0.2:
        line = mutate_line(chance, line)
    try:
        _use(name, line)
    except (IostudyError, ValueError, OSError):  # it is no answer
        return ""
    except BaseException as error:  # noqa: BLE001 - whatever escapes is what the attack looks for
        return f"{type(error).__name__}: {str(error)[:100]} for {line[-300:]!r}"
    return ""


def _use(name: str, line: bytes) -> None:
    """Do with an answer what a controller does."""
    if len(line) > MOST_ANSWER_BYTES:
        return  # the connection ends
    answer = CallAnswer.model_validate_json(line)
    if answer.error is not None:
        return
    if name in VALUES:
        value = answer.read_value(partial(FUNCTIONS[name]))
        if name == "list_results":
            _fetch(value)
        return
    carried = CallAnswer(number=1, value={"phase": "done", "outcome": {"value": answer.value}})
    outcome = carried.read_value(partial(trial_calls.carry)).outcome
    assert outcome is not None
    found = read_value(name, outcome.value)
    if name == "trial":
        offset = ClockOffset(0.0, 0.001)
        join_trials({"a": TRIAL, "b": found}, dict.fromkeys("ab", (offset, offset)), 0.05)
    elif name == "preflight":
        [str(own.on("n1")) for own in found.values()]


def _fetch(files: tuple[ResultFile, ...]) -> None:
    """Fetch the files that a node lists; AssertionError for one outside of the folder."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path, "run")
        folder.mkdir()
        try:
            fetch_folder(files, lambda _name, _offset, size: b"\0" * (size // 2), folder / "n1")
        finally:
            others = {own.name for own in folder.parent.iterdir()} - {"run"}
            assert not others, f"written outside: {others}"
            assert {own.name for own in folder.iterdir()} <= {"n1", ".n1.partial"}


def run_failure(seed: int, design: Design) -> str:
    """What is wrong with a run in which one of two nodes is hostile; empty if nothing is."""
    with tempfile.TemporaryDirectory() as path:
        hosts = Hosts(Path(path))
        try:
            return _run_hosts(hosts, seed, design)
        finally:
            hosts.end()


def _run_hosts(hosts: Hosts, seed: int, design: Design) -> str:
    hosts.add("n1")
    library = hosts.folder / "library"
    library.mkdir()
    (library / "sitecustomize.py").write_text(IN_PLACE_OF_AGENT)
    paths = os.pathsep.join((str(library), str(Path.cwd())))
    nodes = hosts.add("n2", **{SEED: str(seed), "PYTHONPATH": paths})
    write_study(hosts, 3)
    arguments = [*run_arguments(hosts, nodes, lease="4s"), "--design", design.value]
    before = {own.name for own in hosts.folder.iterdir()}
    done = hosts.controller(*arguments)
    if done.returncode not in (0, 2, 3, 4):
        return f"seed {seed}, {design}: exit code {done.returncode}: {done.stderr[-500:]}"
    new = {own.name for own in hosts.folder.iterdir()} - before - {"out", "work", "state", "locks"}
    return f"seed {seed}, {design}: new files {new}" if new else ""
