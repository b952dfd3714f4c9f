"""The namespace compared with Hadoop's NNThroughputBenchmark: same logs, threads, files.

    python -m benches.nnthroughput [ROUNDS [FILES]]

For each operation the rate over that of a real name-node, within a round: with a worker for each
CPU, as nnthroughput has by itself, and with a thread for each operation under way, each of which
sleeps until its mutation is synced, as in the benchmark. Both write one durable edit log on the
same disk, as each does by itself; the name-node has a Java of its own for each operation, as the
benchmark demands, and what it does before the measured phase is not counted.
With each mutation comes about the most that a log on this disk could take: threads x fdatasync
of 4 KiB by fio, as at best all of them wait for one sync. It is printed as a multiple of the
name-node's rate: no ratio goes far beyond that. Programs run in an order drawn afresh for every
round. Needs Java and Hadoop's jars (through Maven or HADOOP_HOME).
"""

from __future__ import annotations

import os
import random
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benches.namespace import fdatasync_rate, run_namespace
from benches.ratio import format_ratio
from benches.scratch import scratch_folder, settle
from iostudy.errors import UsageError
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place, Workload

ROUNDS = 5
FILES = 50_000
THREADS = 256
DISK_BYTES = 512 * MIB
GOALS = {"create": 15.0, "open": 5.0, "rename": 15.0, "delete": 15.0}
_NEEDS_NO_LOG = "open"
_HADOOP = catalog.get("hadoop.nnthroughput")
_WORKERS = {"CPUs": None, "threads": THREADS}
"""Of iostudy: a worker for each CPU, or one for each operation under way."""

Rounds = Sequence[Mapping[str, Mapping[str, float]]]
"""Of every round the figures of each program, by its name."""


def main() -> None:
    """Measure and print a line for each operation."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    files = int(sys.argv[2]) if len(sys.argv) > 2 else FILES
    try:
        measured = _measure(rounds, files)
    except UsageError as missing:
        print(f"Hadoop was not measured: {missing.found}; {missing.remedy}")
        return
    where = "loop-back ext4" if os.geteuid() == 0 else "a folder"
    syncs = statistics.median(one["fio"]["syncs"] for one in measured)
    print(f"{where}; {rounds} rounds; {files} files, {THREADS} threads; medians of op/s")
    print(f"fdatasync {syncs:.0f}/s: at most {THREADS * syncs:.0f} mutations a second")
    print("operation  workers    iostudy   Hadoop   at most   iostudy / Hadoop")
    for operation in GOALS:
        for workers in _WORKERS:
            print(_line(operation, workers, measured, THREADS * syncs), flush=True)


def _measure(rounds: int, files: int) -> Rounds:
    draw, measured = random.Random(THREADS), []
    options = {"operations": ", ".join(GOALS), "files": files, "threads": THREADS}
    with scratch_folder(DISK_BYTES) as folder, _prepare_hadoop(folder, options) as (real, place):
        programs = {
            **{
                name: partial(run_namespace, folder, workers=workers, **options)
                for name, workers in _WORKERS.items()
            },
            "Hadoop": lambda: real.run(place).figures,
            "fio": lambda: {"syncs": fdatasync_rate(folder)},
        }
        for _ in range(rounds):
            of_round = {}
            for name in draw.sample(list(programs), len(programs)):
                settle(folder)
                of_round[name] = programs[name]()
            measured.append(of_round)
    return measured


@contextmanager
def _prepare_hadoop(
    folder: Path, options: Mapping[str, object]
) -> Iterator[tuple[Workload, Place]]:
    """The real name-node, formatted, with its place; UsageError where Java or Hadoop is missing."""
    workload = _HADOOP.make(_HADOOP.options.model_validate(options))
    workload.check()
    place = Place(folder, seed=0)
    workload.prepare(place)
    try:
        yield workload, place
    finally:
        workload.clean(place)


def _line(operation: str, workers: str, rounds: Rounds, most: float) -> str:
    figure = f"{operation}_rate"
    ours, real = ([one[name][figure] for one in rounds] for name in (workers, "Hadoop"))
    bound = "" if operation == _NEEDS_NO_LOG else f"{most / statistics.median(real):.1f} x"
    return (
        f"{operation:11}{workers:8}{statistics.median(ours):10.0f}{statistics.median(real):9.0f}{bound:>10}"
        f"   {format_ratio('Hadoop', real, ours, GOALS[operation])}"
    )


if __name__ == "__main__":
    main()
