"""A namespace with an edit log beside one without, and beside what its disk can sync.

    python -m benches.nnthroughput

For every number of operations under way: creates a second with one durable log over creates with
none, within a round; how many mutations shared a sync, and how many syncs a second there were
beside fdatasync of 4 KiB by fio on the same disk, so that the distance from what the disk can do is
to be read. Programs run in an order drawn afresh for every round. Before that, the memory of a
large namespace.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benches.memory import resident_mib
from benches.ratio import told
from benches.scratch import scratch_folder, settle
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.definition import Place

ROUNDS = 7
FILES = 200_000
THREADS = (16, 64, 256)
MANY_FILES = 10_000_000
DISK_BYTES = 1024 * MIB
GOAL = 0.5
_FDATASYNC_SECONDS = 2
_NATIVE = catalog.get("nnthroughput")


def main() -> None:
    """Measure and print a line for every number of operations under way."""
    with scratch_folder(DISK_BYTES) as folder:
        _tell_memory(folder)
        where = "loop-back ext4" if os.geteuid() == 0 else f"folder {folder}"
        print(f"{where}; {ROUNDS} rounds; {FILES} files; medians")
        print("under way   none op/s    1 log op/s  a sync  syncs/s  of fdatasync   1 log / none")
        for threads in THREADS:
            print(_line(threads, _measure(folder, threads)), flush=True)


def _measure(folder: Path, threads: int) -> list[Mapping[str, Mapping[str, float]]]:
    draw = random.Random(threads)
    programs = {
        "none": lambda: _create(folder, threads, "none"),
        "log": lambda: _create(folder, threads, "log"),
        "fio": lambda: {"syncs": _fdatasync_rate(folder)},
    }
    rounds = []
    for _ in range(ROUNDS + 1):
        measured = {}
        for name in draw.sample(list(programs), len(programs)):
            settle(folder)
            measured[name] = programs[name]()
        rounds.append(measured)
    return rounds[1:]


def _create(folder: Path, threads: int, logs: str, files: int = FILES) -> Mapping[str, float]:
    asked = {"operations": "create", "files": files, "threads": threads, "logs": logs}
    workload, place = _NATIVE.make(_NATIVE.options.model_validate(asked)), Place(folder, seed=0)
    workload.reset(place)
    figures = workload.run(place).figures
    workload.clean(place)
    return figures


def _fdatasync_rate(folder: Path) -> float:
    """Syncs a second of one writer that overwrites a file of zeros, 4 KiB at a time."""
    file = folder / "fio"
    file.write_bytes(bytes(16 * MIB))
    asked = {
        "name": "fdatasync",
        "filename": file,
        "rw": "write",
        "bs": "4k",
        "size": "16m",
        "overwrite": 1,
        "fdatasync": 1,
        "time_based": 1,
        "runtime": _FDATASYNC_SECONDS,
        "output-format": "json",
    }
    command = ["fio", *(f"--{name}={value}" for name, value in asked.items())]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    file.unlink()
    return float(json.loads(said)["jobs"][0]["write"]["iops"])


def _line(threads: int, rounds: list[Mapping[str, Mapping[str, float]]]) -> str:
    def median(program: str, figure: str) -> float:
        return statistics.median(one[program][figure] for one in rounds)

    none, log = ([one[name]["create_rate"] for one in rounds] for name in ("none", "log"))
    syncs = median("log", "create_syncs")
    share = 100 * syncs / median("fio", "syncs")
    return (
        f"{threads:9}{median('none', 'create_rate'):12.0f}{median('log', 'create_rate'):14.0f}"
        f"{median('log', 'create_per_sync'):8.0f}{syncs:9.0f}{share:12.0f} %   "
        f"{told('none', none, log, GOAL)}"
    )


def _tell_memory(folder: Path) -> None:
    """By how much this process grows at most when it serves so many files."""
    before = resident_mib("VmRSS")
    _create(folder, 256, "none", MANY_FILES)
    grown = resident_mib("VmHWM") - before
    print(f"{MANY_FILES} files take {grown:.0f} MiB of memory, goal at most 2048 MiB", flush=True)


if __name__ == "__main__":
    main()
