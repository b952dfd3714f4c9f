"""A namespace with an edit log, compared with the most that its disk and its tree allow.

    python -m benches.edit_log [ROUNDS]

The file of one loop-back disk is in the current folder, that of another in memory: their difference
is the cost of the disk. For each number of operations in flight, with one worker per CPU, and for
the largest also with one thread per operation, the benchmark prints

- creates per second without a log and with a durable one;
- mutations per sync, and syncs per second relative to fio's fdatasync of 4 KiB on the same disk;
- creates with a log relative to the limit in the same round: the smaller one of threads x
  fdatasync, because all threads share one sync at best, and of creates without a log.

The order of programs is drawn anew for every round. The memory of a large namespace comes first.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benches.memory import resident_mib
from benches.namespace import fdatasync_rate, run_namespace
from benches.ratio import format_ratio
from benches.scratch import scratch_folder, settle
from iostudy.units import MIB

ROUNDS = 5
FILES = 200_000
"""Without a log."""
FILES_PER_THREAD = 1000
"""With one: about as many syncs for any number of threads, which take a second or so."""
THREADS = (16, 64, 256)
WORKERS: tuple[tuple[int, int | None], ...] = (*((number, None) for number in THREADS), (256, 256))
"""Operations under way and the threads that carry them; None: one for each CPU."""
MANY_FILES = 10_000_000
DISK_BYTES = 512 * MIB
GOAL = 0.75
_MEMORY = Path("/dev/shm")

Rounds = Sequence[Mapping[str, Mapping[str, float]]]
"""Of every round the figures of each program, by its name."""


def main() -> None:
    """Measure and print a line for every disk and number of operations under way."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    _print_memory()
    for name, parent in (("this disk", None), ("memory", _MEMORY)):
        with scratch_folder(DISK_BYTES, parent) as folder:
            where = "loop-back ext4" if os.geteuid() == 0 else "a folder"
            print(f"{where} on {name}; {rounds} rounds; medians a second")
            print(
                f"{FILES} files without a log, {FILES_PER_THREAD} for each of threads with one\n"
                f"{'':48}     none    1 log  a sync   syncs  of fdatasync    limit"
                "   1 log / limit"
            )
            for threads, workers in WORKERS:
                measured = _measure(folder, (threads, workers), rounds)
                case = f"{threads} under way by {workers or 'a thread per CPU'}, {name}"
                print(_line(case, threads, measured), flush=True)


def _measure(folder: Path, carried: tuple[int, int | None], rounds: int) -> Rounds:
    """By so many workers; the first round is for warming up."""
    threads, workers = carried
    draw = random.Random(threads)
    create = partial(run_namespace, folder, operations="create", threads=threads, workers=workers)
    programs = {
        "none": lambda: create(logs="none", files=FILES),
        "log": lambda: create(logs="log", files=FILES_PER_THREAD * threads),
        "fio": lambda: {"syncs": fdatasync_rate(folder)},
    }
    measured = []
    for _ in range(rounds + 1):
        of_round = {}
        for name in draw.sample(list(programs), len(programs)):
            settle(folder)
            of_round[name] = programs[name]()
        measured.append(of_round)
    return measured[1:]


def _line(case: str, threads: int, rounds: Rounds) -> str:
    def median(program: str, figure: str) -> float:
        return statistics.median(one[program][figure] for one in rounds)

    none, log = ([one[name]["create_rate"] for one in rounds] for name in ("none", "log"))
    limit = [
        min(rate, threads * one["fio"]["syncs"]) for rate, one in zip(none, rounds, strict=True)
    ]
    syncs, possible = median("log", "create_syncs"), median("fio", "syncs")
    return (
        f"{case:48}"
        f"{statistics.median(none):9.0f}{statistics.median(log):9.0f}"
        f"{median('log', 'create_per_sync'):8.0f}{syncs:8.0f}{100 * syncs / possible:12.0f} %"
        f"{statistics.median(limit):9.0f}   {format_ratio('limit', limit, log, GOAL)}"
    )


def _print_memory() -> None:
    """By how much this process grows at most when it serves so many files."""
    before = resident_mib("VmRSS")
    with scratch_folder(64 * MIB) as folder:
        run_namespace(folder, operations="create", threads=256, logs="none", files=MANY_FILES)
    grown = resident_mib("VmHWM") - before
    print(f"{MANY_FILES} files take {grown:.0f} MiB of memory, goal at most 2048 MiB", flush=True)


if __name__ == "__main__":
    main()
