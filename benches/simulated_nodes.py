"""Simulated nodes of a fleet in one process: ``python -m benches.simulated_nodes FOLDER SECONDS``.

Each node is a Dask worker with an identity of its own. Its order is a file that appears in FOLDER.
Its studies and trials only last: SECONDS each. All else that the controller calls is answered at
once.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from iostudy.fleet.deployment import agent
from iostudy.fleet.supervision import node_study
from iostudy.fleet.supervision.node_study import NodeStatus, Request, ResultFile
from iostudy.fleet.supervision.work_folder import Ending, EndReason, StudyOrder, WorkFolder
from iostudy.fleet.together import trial_calls
from iostudy.fleet.together.trial_messages import (
    Answer,
    NotStartedError,
    Outcome,
    ServerPhase,
    TrialRequest,
)

POLL_SECONDS = 0.2
MOST_WAITS = 1000
"""Calls that wait at the same time: the nodes share the event loop of this process."""
SSH = """\
#!/bin/sh
name=
while [ "$1" != -- ]; do [ "$1" = -G ] && name=1; shift; done
[ "$name" ] && { echo "hostname 127.0.0.1"; exit; }
head -n 1 > "FOLDER/$2.part" && mv "FOLDER/$2.part" "FOLDER/$2.json"
exec sleep infinity
"""
"""It takes the place of ssh, and keeps the connection of each node."""
LEDGER = b"ledger"
CALLED_OFF = NotStartedError("a run", found="called off", where="a node", remedy="run again")
COMPLETE = Ending(exit_code=0, reason=EndReason.FINISHED)


class Nodes:
    """What the nodes of this process do, by their work folders."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.ends: dict[WorkFolder, float] = {}
        self.runs: dict[tuple[WorkFolder, int], float] = {}

    def begin(self, folder: WorkFolder, _order: StudyOrder, *, resumed: bool) -> str:
        """Begin a study that lasts."""
        self.ends[folder] = time.monotonic() + self.seconds
        return "results are here" if resumed else ""

    def contact(self, folder: WorkFolder, _request: Request) -> NodeStatus:
        """Say whether the study has ended."""
        running = time.monotonic() < self.ends.get(folder, float("inf"))
        return NodeStatus(running, None if running else COMPLETE, "block 1")

    def carry(self, folder: WorkFolder, request: TrialRequest) -> Answer:
        """A trial begins at its instant and lasts; others are done at once."""
        if request.release is None:
            return Answer(ServerPhase.READY)
        if request.release.instant is None:
            return Answer(ServerPhase.DONE, Outcome(error=CALLED_OFF))
        end = self.runs.setdefault((folder, request.number), request.release.instant + self.seconds)
        left = end - time.monotonic()
        time.sleep(max(0.0, min(left, request.seconds)))
        if left > request.seconds:
            return Answer(ServerPhase.BUSY)
        return Answer(ServerPhase.DONE, Outcome(value=end - self.seconds))

    def take_part(self) -> None:
        """Answer in place of a real node: calls name these functions by their modules."""
        tasks: Any = node_study
        tasks.begin, tasks.contact = self.begin, self.contact
        file = ResultFile("ledger", len(LEDGER), hashlib.sha256(LEDGER).hexdigest())
        tasks.list_results = lambda _: (file,)
        tasks.read_piece = lambda *_: LEDGER
        tasks.remove = lambda _: None
        trial_calls.carry = self.carry


async def serve(folder: Path) -> None:
    """Start a worker for each order, for ever."""
    workers: dict[str, asyncio.Task[None]] = {}
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_WAITS))
    while True:
        for path in folder.glob("*.json"):
            if path.name not in workers:
                order = agent.AgentOrder.model_validate_json(path.read_text())
                workers[path.name] = asyncio.create_task(agent.serve(order))
        await asyncio.sleep(POLL_SECONDS)


def main() -> None:
    """Be the nodes."""
    folder, seconds = sys.argv[1:]
    Nodes(float(seconds)).take_part()
    logging.disable(logging.CRITICAL)  # Dask's
    asyncio.run(serve(Path(folder)))


if __name__ == "__main__":
    main()
