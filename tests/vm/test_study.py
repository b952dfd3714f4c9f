"""A study on LVM whose factor is the scheduler of all disks below."""

from __future__ import annotations

import json
import time

import pytest

from tests.vm.conftest import queues
from tests.vm.machine import Machine

pytestmark = pytest.mark.usefixtures("volumes")

STUDY = """\
question: Does the scheduler of the disks below matter?
target: /data
factors:
  block.scheduler: {levels: [none, bfq], on: members of vg0}
workloads:
  - io: {operation: write, size: 4MiB, direct: true, sync: fsync}
decide: {margin: 90%, blocks: [3, 3]}
"""


@pytest.fixture
def study(machine: Machine) -> str:
    machine.run("sh", "-c", "cat >/tmp/study.yaml", text=STUDY)
    return "/tmp/study.yaml"


def test_a_study_on_all_members_of_a_group(machine: Machine, study: str) -> None:
    before = queues(machine)
    machine.iostudy("run", study, "--yes", "--out", "/tmp/done", seconds=600)
    document = json.loads(machine.iostudy("report", "/tmp/done", "--format", "json").stdout)
    assert len(document["trials"]) == 6
    assert queues(machine) == before


def test_a_study_that_is_killed_leaves_nothing_changed(machine: Machine, study: str) -> None:
    before = queues(machine)
    machine.shell(
        f"setsid .venv/bin/iostudy run {study} --yes --out /tmp/cut >/tmp/cut.log 2>&1 & "
        "echo $! >/tmp/cut.pid"
    )
    machine.shell(
        "until grep -q '\\[bfq\\]' /sys/block/sd*/queue/scheduler; do sleep 0.1; done", seconds=300
    )
    machine.shell("kill -9 $(cat /tmp/cut.pid)")
    deadline = time.monotonic() + 60
    while queues(machine) != before:
        assert time.monotonic() < deadline
        machine.iostudy("restore")
