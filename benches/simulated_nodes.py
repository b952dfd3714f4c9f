"""Simulated nodes of a fleet in one process: ``python -m benches.simulated_nodes FOLDER SECONDS``.

Each node is an agent in a thread, whose pipes are two FIFOs that appear in FOLDER. Its studies and
trials only last: SECONDS each. All else that the controller calls is answered at once.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from pathlib import Path

from pydantic import Base64UrlBytes

from iostudy_fleet import agent
from iostudy_fleet.supervision.node_study import NodeStatus, Request, ResultFile
from iostudy_fleet.supervision.work_folder import Ending, EndReason, StudyOrder, WorkFolder
from iostudy_fleet.together.trial_calls import read_clock
from iostudy_fleet.together.trial_messages import (
    Answer,
    NodeError,
    NotStartedError,
    Outcome,
    ServerPhase,
    TrialRequest,
)

POLL_SECONDS = 0.2
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
mkfifo "FOLDER/$2.in" "FOLDER/$2.out" && touch "FOLDER/$2.node"
cat "FOLDER/$2.out" &
exec cat > "FOLDER/$2.in"
"""
"""It takes the place of ssh, and connects its pipes with those of a node."""
LEDGER = b"ledger"
CALLED_OFF = NotStartedError("a run", found="called off", where="a node", remedy="run again")
COMPLETE = Ending(exit_code=0, reason=EndReason.FINISHED)
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
ENDS: dict[WorkFolder, float] = {}
RUNS: dict[tuple[WorkFolder, int], float] = {}


def begin(folder: WorkFolder, order: StudyOrder, *, resumed: bool) -> str:
    """Begin a study that lasts."""
    ENDS[folder] = time.monotonic() + SECONDS
    return "results are here" if resumed else ""


def contact(folder: WorkFolder, request: Request) -> NodeStatus:
    """Say whether the study has ended."""
    running = time.monotonic() < ENDS.get(folder, float("inf"))
    return NodeStatus(running, None if running else COMPLETE, "block 1")


def carry(folder: WorkFolder, request: TrialRequest) -> Answer:
    """A trial begins at its instant and lasts; others are done at once."""
    if request.release is None:
        return Answer(ServerPhase.READY)
    if request.release.instant is None:
        return Answer(ServerPhase.DONE, Outcome(error=NodeError.describe(CALLED_OFF)))
    end = RUNS.setdefault((folder, request.number), request.release.instant + SECONDS)
    left = end - time.monotonic()
    time.sleep(max(0.0, min(left, request.seconds)))
    if left > request.seconds:
        return Answer(ServerPhase.BUSY)
    return Answer(ServerPhase.DONE, Outcome(value=end - SECONDS))


def list_results(folder: WorkFolder) -> tuple[ResultFile, ...]:
    """List one file."""
    return (ResultFile("ledger", len(LEDGER), hashlib.sha256(LEDGER).hexdigest()),)


def read_piece(folder: WorkFolder, name: str, offset: int, size: int) -> Base64UrlBytes:
    """Read all of it."""
    return LEDGER


def remove(folder: WorkFolder) -> None:
    """Leave nothing."""


def serve(folder: Path, node: str) -> None:
    """Be the agent of a node."""
    with (folder / f"{node}.in").open("rb") as requests, (folder / f"{node}.out").open("wb") as out:
        agent.serve(requests, out)


def main() -> None:
    """Be the nodes, for ever."""
    folder = Path(sys.argv[1])
    functions = (begin, contact, carry, list_results, read_piece, remove, read_clock)
    agent.FUNCTIONS = {function.__name__: function for function in functions}
    known = set[str]()
    while True:
        for path in folder.glob("*.node"):
            if path.stem not in known:
                known.add(path.stem)
                threading.Thread(target=serve, args=(folder, path.stem), daemon=True).start()
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
