"""Cost of a trial beyond its workload, from the ledger of a real study.

A study of tiny writes and reads runs on a loop-back disk (as root; in a folder otherwise). The cost
of a trial is the time from its begin to the begin of the next one in its block, without the phases
in which the workload runs or prepares its data, and without dropping the page cache. It holds all
the rest: settings, journal, writing out dirty pages, telemetry, ledger.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from iostudy.ledger.rows import TrialRow
from iostudy.ledger.store import Ledger

GOAL_SECONDS = 0.150
APART = ("run", "prepare", "drop")
STUDY = """
question: What does a trial cost beyond its workload?
target: {loopback: {size: 256MiB}}
factors: {block.scheduler: offered}
workloads:
  - io: {label: writes, operation: write, size: 16MiB, sync: fsync}
  - io: {label: reads, size: 16MiB}
decide: {margin: 0.01%, risk: 5%, blocks: [10, 10]}
without_root: {factors: {workload.record_size: [1MiB, 64KiB, 256KiB, 4KiB]}}
"""


def main() -> None:
    """Run the study, print the median cost and where it goes."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(STUDY)
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "iostudy", "run", str(path), "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        ledger = Ledger.open(out, read_only=True)
        rows = ledger.rows()
        ledger.close()
    costs = [cost for pair in pairwise(rows) if (cost := _cost(*pair)) is not None]
    print(f"a trial beyond its workload: median {_ms(statistics.median(costs))}, ", end="")
    print(f"slowest of {len(costs)}: {_ms(max(costs))}; goal: under {_ms(GOAL_SECONDS)}")
    for phase in dict.fromkeys(phase for row in rows for phase in row.phases or {}):
        seconds = [row.phases[phase] for row in rows if row.phases and phase in row.phases]
        apart = " (apart)" if phase in APART else ""
        print(f"  {phase:<8} median {_ms(statistics.median(seconds))}{apart}")


def _cost(row: TrialRow, following: TrialRow) -> float | None:
    """Seconds; None for the last trial of a block, after which the block is cleaned up."""
    same = (row.workload, row.block, row.attempt)
    if same != (following.workload, following.block, following.attempt) or row.phases is None:
        return None
    apart = sum(row.phases.get(phase, 0.0) for phase in APART)
    return following.started_at - row.started_at - apart


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    main()
