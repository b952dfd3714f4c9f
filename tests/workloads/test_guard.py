"""Tests that a program ends with its guard, and that no process of others does."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.errors import WorkloadError
from iostudy.workloads.external.program import Program, run
from tests.attack import processes

pytestmark = pytest.mark.child

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""

# A process that leaves a daemon, and prints its number.
_LEAVE = """
import subprocess
daemon = subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=subprocess.DEVNULL)
print(daemon.pid)
"""


@pytest.fixture
def _as_first_process() -> Iterator[None]:
    """As the first process of a container does, this one gets the orphans of others."""
    prctl = ctypes.CDLL(None).prctl
    assert prctl(_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    prctl(_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.parametrize("victim", processes.VICTIMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_guard_that_is_killed_is_a_failed_run_without_survivors(seed: int, victim: str) -> None:
    wait_seconds = random.Random(seed).uniform(0, 0.3)
    assert processes.attack(f"3100.{os.getpid()}{seed}", wait_seconds, victim) == ""


@pytest.mark.usefixtures("_as_first_process")
@pytest.mark.parametrize("victim", processes.VICTIMS)
def test_orphans_of_others_live_on(tmp_path: Path, victim: str) -> None:
    daemons: list[int] = []

    def tick(_: int) -> bool:
        if not daemons:
            daemons.append(int(subprocess.check_output([sys.executable, "-c", _LEAVE])))
            processes.kill(victim)
        return True

    with pytest.raises(WorkloadError, match="its guard was killed by signal 9"):
        run(Program(("sleep", "30"), tmp_path, 30.0), tick)
    (daemon,) = daemons
    assert os.waitpid(daemon, os.WNOHANG) == (0, 0)
    os.kill(daemon, signal.SIGKILL)
    os.waitpid(daemon, 0)
