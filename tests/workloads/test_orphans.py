"""Tests that orphans of a dead guard are killed, and no other process."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from iostudy.workloads.orphans import adopt_orphans, start_process
from tests.attack import processes

pytestmark = pytest.mark.child

# A process that leaves another one in a session of its own, as a dead guard does.
LEAVE = (
    "import subprocess; "
    "subprocess.Popen(['sleep', '{}'], start_new_session=True, stdout=subprocess.DEVNULL)"
)


@pytest.mark.parametrize("seed", range(3))
def test_a_guard_that_is_killed_is_a_failed_run_without_survivors(seed):
    assert processes.attack(f"3100.{seed}", random.Random(seed).uniform(0, 0.3)) == ""


def test_only_orphans_are_killed():
    with (
        subprocess.Popen(["sleep", "30"], start_new_session=True) as earlier,
        adopt_orphans() as orphanage,
        start_process(["sleep", "30"]) as own,
        subprocess.Popen(["sleep", "30"]) as same_session,
    ):
        subprocess.run([sys.executable, "-c", LEAVE.format("30.125")], check=True)
        assert orphanage.kill() == 1
        others = (earlier, own, same_session)
        assert [process.poll() for process in others] == [None, None, None]
        for process in others:
            process.kill()


def test_orphans_are_not_adopted_any_longer():
    with adopt_orphans():
        pass
    with adopt_orphans() as orphanage:
        pass
    subprocess.run([sys.executable, "-c", LEAVE.format("0.125")], check=True)
    assert orphanage.kill() == 0
