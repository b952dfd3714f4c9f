"""The end of a fleet's agents: what it waits for, on the controller and on a node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from iostudy.settings.transaction.watchdog import SCRIPT
from iostudy_fleet.agent import is_own
from iostudy_fleet.deployment import agents as agents_module
from iostudy_fleet.deployment.agents import Agents

ADOPT = """\
import subprocess
from iostudy_fleet import agent
agent._adopt_orphans()
left = "sleep 30 >/dev/null 2>&1 & echo $!"
study = "sh -c 'sleep 0.5; echo restored' sh -m iostudy_fleet.supervision.supervisor &"
subprocess.run(["sh", "-c", f"{left}; {study}"], check=True)
agent._wait_for_own_children()
"""


@dataclass(frozen=True)
class Node:
    name: str
    kills_orphans: bool
    script: str
    python: str = "python"

    def command(self, *_remote: str) -> list[str]:
        return ["sh", "-c", self.script]


@pytest.mark.child
def test_the_end_waits_for_studies_that_would_end_with_their_connection(
    monkeypatch: pytest.MonkeyPatch, tmp_path
):
    monkeypatch.setattr(agents_module, "_END_SECONDS", 0.1)
    said: list[str] = []
    agents = Agents(said.append)
    slow: Any = Node("n1", kills_orphans=True, script=f"sleep 1; touch {tmp_path}/restored")
    ssh: Any = Node("n2", kills_orphans=False, script="exec sleep 60")
    for node in (slow, ssh):
        agents.start(node)
    agents.close()
    assert (tmp_path / "restored").exists()
    (line,) = said
    assert line.startswith("waiting for n1: the agent there ends after its study has restored")


def test_processes_of_iostudy_are_known_by_their_command_lines():
    python = b"/opt/bin/python3"
    assert is_own([python, b"-m", b"iostudy_fleet.supervision.supervisor", b"/x", b"3"])
    assert is_own([b"setpriv", b"--", python, b"-m", b"iostudy", b"run"])
    assert is_own([b"sh", os.fsencode(SCRIPT), b"/journal"])
    assert not is_own([python, b"-m", b"iostudying"])
    assert not is_own([b"/usr/bin/daemon", b"/var/tmp/iostudy-fleet-1"])
    assert not is_own([b""])


@pytest.mark.child
def test_an_agent_outlasts_its_studies_and_not_what_their_workloads_left():
    done = subprocess.run([sys.executable, "-c", ADOPT], capture_output=True, text=True, check=True)
    number, restored = done.stdout.split()
    assert restored == "restored"
    assert Path(f"/proc/{number}/cmdline").read_bytes().startswith(b"sleep")
    os.kill(int(number), signal.SIGKILL)
