"""Guards of programs, and their reapers, killed at random moments: each run must fail."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from iostudy.errors import WorkloadError
from iostudy.workloads.external import guard, program
from iostudy.workloads.external.program import Program
from tests.attack.campaign import AttackCount, attempts

TRIES = 50
VICTIMS = ("guard", "reaper")
_LONGEST_WAIT_SECONDS = 0.4
_LIMIT_SECONDS = 120.0
_SURVIVOR_SECONDS = 30.0
# Daemons in sessions of their own, one of them without an environment, and one that forks on.
_TREE = (
    "setsid sleep MARK & env -i setsid sh -c 'sleep MARK & sleep MARK' & "
    "sh -c 'setsid sh -c \"while :; do sleep 0.0MARK; done\" &' ; sleep MARK"
)


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Kill guards from their start until they are well at work."""
    rng = random.Random(seed)
    counts = [
        AttackCount(f"the {victim} of a program killed at a random moment") for victim in VICTIMS
    ]
    for number in attempts(seconds, TRIES):
        mark = f"{3000 + number}.{os.getpid()}"
        for victim, count in zip(VICTIMS, counts, strict=True):
            count.record(attack(mark, rng.uniform(0, _LONGEST_WAIT_SECONDS), victim))
    return counts


def attack(mark: str, wait_seconds: float, victim: str) -> str:
    """Kill a process of the guard after so long; what went wrong, if anything did."""
    killer = threading.Thread(target=kill, args=(victim, wait_seconds))
    with tempfile.TemporaryDirectory() as folder:
        requested = Program(("sh", "-c", _TREE.replace("MARK", mark)), Path(folder), _LIMIT_SECONDS)
        killer.start()
        failure = _failure_of(lambda: program.run(requested))
        killer.join()
    return failure or _survivor(mark)


def _failure_of(action: Callable[[], object]) -> str:
    try:
        action()
    except WorkloadError as error:
        return "" if "its guard was killed by signal 9" in error.found else f"said: {error.found}"
    except BaseException as error:  # noqa: BLE001 - any other exception is what the attack is after
        return f"{type(error).__name__}: {error}"
    return "the run succeeded"


def kill(victim: str, wait_seconds: float = 0.0) -> None:
    """Wait for the guard or the reaper of a program of this process, and kill it."""
    while not (found := _reapers() if victim == "reaper" else _guards()):
        time.sleep(0.001)
    time.sleep(wait_seconds)
    os.kill(found[0], signal.SIGKILL)


def _reapers() -> list[int]:
    return _with_guards_code(os.getpid())


def _guards() -> list[int]:
    return [child for reaper in _reapers() for child in _with_guards_code(reaper)]


def _with_guards_code(parent: int) -> list[int]:
    """The children of a process that execute the guard's code."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    ours = (pid for pid in pids if guard.__file__ in _arguments(pid))
    return [pid for pid in ours if _parent(pid) == parent]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _survivor(mark: str) -> str:
    """The arguments of a process of the tree that lives on for a while, if any does."""
    deadline = time.monotonic() + _SURVIVOR_SECONDS
    while time.monotonic() < deadline:
        processes = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())
        living = [arguments for pid in processes if mark in (arguments := _arguments(pid))]
        if not living:
            return ""
        time.sleep(0.01)
    return f"survived: {living[0]}"


def _arguments(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("latin-1")
    except OSError:
        return ""
