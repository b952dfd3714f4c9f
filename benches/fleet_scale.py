"""Cost of a controller of many nodes: ``python -m benches.fleet_scale [NODES] [SECONDS]``.

The controller is real. The nodes are agents in one other process. Their studies and trials
last SECONDS without any load.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from benches.simulated_nodes import SSH
from iostudy_fleet.deployment.agents import connect_to_nodes
from iostudy_fleet.deployment.client import FleetClient, NoAnswer
from iostudy_fleet.deployment.nodes import SshNode
from iostudy_fleet.replicate.controller import Controller, FleetStudy
from iostudy_fleet.supervision import node_study
from iostudy_fleet.supervision.lease import BEATS
from iostudy_fleet.supervision.node_state import Phase
from iostudy_fleet.supervision.work_folder import StudyOrder, WorkFolder, work_folder
from iostudy_fleet.together.crew import Crew
from iostudy_fleet.together.trial_messages import Call

NODES, SECONDS = 200, 60.0
TRIALS = 3
ROUNDS = 10
LEASE_SECONDS = 60.0


@contextmanager
def connect(count: int, seconds: float, folder: Path) -> Iterator[FleetClient]:
    """Start the nodes and connect to them, as by ssh."""
    (folder / "ssh").write_text(SSH.replace("FOLDER", str(folder)))
    (folder / "ssh").chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "benches.simulated_nodes", str(folder), str(seconds)]
    simulator = subprocess.Popen(command)
    try:
        nodes = [SshNode(f"n{number:03}", f"n{number:03}", "python") for number in range(count)]
        with connect_to_nodes(nodes, print) as client:
            yield client
    finally:
        simulator.terminate()
        simulator.wait()


@contextmanager
def measure(title: str, measured_seconds: float) -> Iterator[None]:
    """Print the time, and the CPU time as a share of that in which nodes measure."""
    wall, cpu = time.monotonic(), time.process_time()
    yield
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    share = 100 * cpu / measured_seconds
    say(f"{title}: {wall:.1f} s, CPU {cpu:.2f} s, {share:.1f} % of {measured_seconds:g} s")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def beat(client: FleetClient, folders: Mapping[str, WorkFolder]) -> None:
    """Measure rounds of heartbeats, of which a lease has four."""
    contact = node_study.contact
    calls = {
        node: partial(contact, folder, node_study.Request.CONTINUE)
        for node, folder in folders.items()
    }
    client.call_all(calls, LEASE_SECONDS)
    with measure(f"{ROUNDS} rounds of heartbeats", ROUNDS * LEASE_SECONDS / BEATS):
        for _ in range(ROUNDS):
            answers = client.call_all(calls, LEASE_SECONDS)
            assert not any(isinstance(answer, NoAnswer) for answer in answers.values())


def replicate(client: FleetClient, folders: Mapping[str, WorkFolder], out: Path) -> None:
    """Run a study on each node; each must be complete."""
    order = StudyOrder(
        name="s", text="", options=(), lease_seconds=LEASE_SECONDS, controller="here"
    )
    out.mkdir()
    study = FleetStudy(order, folders, out)
    states = Controller(client, study, lambda *_: None, print).run(folders)
    assert {state.phase for state in states.values()} == {Phase.COMPLETE}, states


def together(client: FleetClient, folders: Mapping[str, WorkFolder]) -> None:
    """Run trials on all nodes at the same time, and print the bounds of offsets."""
    crew = Crew(client, folders, LEASE_SECONDS, print)
    with crew.heartbeats():
        results = [crew.run_together(lambda _: Call("trial"), crew.nodes) for _ in range(TRIALS)]
    bounds = [
        offset.error for trial in results for both in trial.offsets.values() for offset in both
    ]
    median, p99 = 1000 * np.percentile(bounds, (50, 99))
    say(f"bounds of {len(bounds)} offsets: median {median:.2f} ms, p99 {p99:.2f} ms")


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else NODES
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        with connect(count, seconds, folder) as client:
            folders = {node: work_folder(folder, "0", node) for node in client.nodes}
            beat(client, folders)
            with measure("replicate", seconds):
                replicate(client, folders, folder / "out")
            with measure(f"together, {TRIALS} trials", TRIALS * seconds):
                together(client, folders)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(f"{count} nodes, largest resident memory {memory:.0f} MiB, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
