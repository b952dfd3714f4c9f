"""Metadata operations compared with a minimal C loop of the same system calls.

    python -m benches.metadata

What makes it fair, and what does not: both create (open and close), stat and unlink empty files of
the same names in the same directories by as many threads, every phase timed from the first start to
the last end. The C program, which is compiled here with cc -O2, has made all names before and does
nothing between two system calls but test for an error; the engine makes each name, reads the clock
and counts a latency, and compares every size. The two run in an order drawn afresh for every round,
dirty data written out and caches dropped before, and ratios are taken within a round.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benches.ratio import format_ratio
from benches.scratch import scratch_folder, settle
from iostudy._native import MetadataJob, remove_tree
from iostudy.units import MIB

ROUNDS = 15
FILES = 20_000
DISK_BYTES = 1024 * MIB
GOAL = 0.95
THREADS = (1, 2)
OPERATIONS = {"create_write": "create", "stat": "stat", "delete": "unlink"}

Rates = dict[str, float]
Program = Callable[[Path, int], Rates]


def main() -> None:
    """Measure with one and with two threads and print a line for each operation."""
    with scratch_folder(DISK_BYTES) as folder, tempfile.TemporaryDirectory() as built:
        programs: dict[str, Program] = {
            "iostudy": run_engine,
            "C": partial(_run_peer, _compile_peer(Path(built))),
        }
        where = "loop-back ext4" if os.geteuid() == 0 else f"folder {folder}"
        print(f"{where}; {ROUNDS} rounds; {FILES} empty files a thread; medians in 1000 op/s")
        print(f"{'':24}" + "".join(f"{name:>9}" for name in programs) + "   engine / C")
        for threads in THREADS:
            rounds = _measure(programs, folder, threads)
            for operation in OPERATIONS.values():
                print(_line(operation, threads, rounds), flush=True)


def run_engine(folder: Path, threads: int) -> Rates:
    """Operations per second of the native engine."""
    job = MetadataJob(
        str(folder),
        operations=list(OPERATIONS),
        threads=threads,
        files=FILES,
        files_per_directory=FILES,
        depth=1,
        shared=False,
        bytes_to_write=0,
        sync="none",
        seed=0,
    )
    return {
        OPERATIONS[phase.operation]: phase.latencies.count / phase.wall_seconds
        for phase in job.run()
    }


def _compile_peer(folder: Path) -> Path:
    source = Path(__file__).with_name("metadata_peer.c")
    program = folder / "metadata_peer"
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, source], check=True)
    return program


def _run_peer(program: Path, folder: Path, threads: int) -> Rates:
    folder.mkdir()
    command = [program, folder, str(threads), str(FILES)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name: float(rate) for name, rate in map(str.split, said.splitlines())}


def _measure(programs: dict[str, Program], folder: Path, threads: int) -> list[dict[str, Rates]]:
    """What every program measured in every round, after one round to warm up."""
    draw = random.Random(threads)
    rounds = []
    for _ in range(ROUNDS + 1):
        measured = {}
        for name in draw.sample(list(programs), len(programs)):
            settle(folder)
            measured[name] = programs[name](folder / "tree", threads)
            remove_tree(str(folder / "tree"))
        rounds.append(measured)
    return rounds[1:]


def _line(operation: str, threads: int, rounds: list[dict[str, Rates]]) -> str:
    rates = {name: [one[name][operation] for one in rounds] for name in rounds[0]}
    medians = "".join(f"{statistics.median(rates[name]) / 1000:9.1f}" for name in ("iostudy", "C"))
    case = f"{operation}, {threads} thread{'s' * (threads > 1)}"
    return f"{case:24}{medians}   {format_ratio('C', rates['C'], rates['iostudy'], GOAL)}"


if __name__ == "__main__":
    main()
