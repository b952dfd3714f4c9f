"""The native engine compared with fio and dd: sequential write and read, 1 MiB records.

    python -m benches.engine

What makes it fair, and what does not: all three write fresh files under the same names, removed
and synced before every run, and read the same files, written once by the engine. Every program is
timed by its own clock, so that nobody pays for starting up: fio's drops fractions of a
millisecond, and of several dd the slowest counts, their staggered start does not - both in their
favour. The engine writes data that neither compress nor deduplicate and verifies what it reads;
fio fills a buffer at random once and changes a little of it for every record (its default), and
reads without looking; dd writes zeros and reads without looking. The page cache is dropped before
every run. The three run in an order drawn afresh for every round, and ratios are taken within a
round, so that drift and neighbours cancel.
"""

from __future__ import annotations

import itertools
import os
import random
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from benches.programs import PROGRAMS, Case, run_engine
from benches.ratio import format_ratio
from benches.scratch import scratch_folder, settle
from iostudy.units import MIB

ROUNDS = 15
FILE_BYTES = 256 * MIB
DISK_BYTES = 1024 * MIB
GOAL = 0.98
OPERATIONS: tuple[Literal["write", "read"], ...] = ("write", "read")
CASES = [
    Case(operation, direct, threads, FILE_BYTES)
    for operation, direct, threads in itertools.product(OPERATIONS, (True, False), (1, 2))
]

Rates = dict[str, list[float]]


def main() -> None:
    """Measure every case and print a line for each."""
    with scratch_folder(DISK_BYTES) as folder:
        where = "loop-back ext4, direct I/O below" if os.geteuid() == 0 else f"folder {folder}"
        print(f"{where}; {ROUNDS} rounds; files of {FILE_BYTES // MIB} MiB; medians in MiB/s")
        print(f"{'':32}" + "".join(f"{name:>9}" for name in PROGRAMS) + "   engine / better one")
        for case in CASES:
            print(_line(case, measure(case, folder)), flush=True)


def measure(case: Case, folder: Path) -> Rates:
    """MiB/s of every program in every round."""
    paths = [folder / f"part-{index}" for index in range(case.threads)]
    if case.operation == "read":
        run_engine(Case("write", True, case.threads, case.file_bytes), paths)
    rates: Rates = {name: [] for name in PROGRAMS}
    draw = random.Random(str(case))
    for _ in range(ROUNDS):
        for name in draw.sample(list(PROGRAMS), len(PROGRAMS)):
            if case.operation == "write":
                _remove(paths)
            settle(folder)
            rates[name].append(PROGRAMS[name](case, paths))
    _remove(paths)
    return rates


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _line(case: Case, rates: Mapping[str, list[float]]) -> str:
    better = max(("fio", "dd"), key=lambda name: statistics.geometric_mean(rates[name]))
    medians = "".join(f"{statistics.median(rates[name]):9.0f}" for name in PROGRAMS)
    return f"{case!s:32}{medians}   {format_ratio(better, rates[better], rates['iostudy'], GOAL)}"


if __name__ == "__main__":
    main()
