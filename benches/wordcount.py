"""The wordcount workload compared with a coreutils pipeline and Hadoop.

    python -m benches.wordcount            # in rounds; Hadoop counts 1 GB, coreutils a part of it
    python -m benches.wordcount --growth   # 0.1, 1 and 4 GB: time per GB and peak memory; minutes

All count the same text of Zipf words on the same disk into one sorted file, with two threads or
tasks; dirty pages are written out and the page cache is dropped before every run. The pipeline is
`tr | sort | uniq -c` (LC_ALL=C, with the memory and threads of the workload), which sorts every
word and not only the different ones. Hadoop's WordCount runs with the local runner in one JVM, all
else as it comes. What they have counted must be equal. The order is drawn afresh for every round,
and ratios are taken within a round, so that drift and neighbours cancel.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import random
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benches import hadoop
from benches.growth import Growing
from benches.ratio import format_ratio
from benches.scratch import scratch_folder, settle
from iostudy import _native, units

MEMORY_BYTES = 256 * units.MIB
THREADS = 2
OWN, PIPELINE, HADOOP = "iostudy", "coreutils", "Hadoop"
PIPELINE_BYTES, PIPELINE_ROUNDS, PIPELINE_GOAL = 100_000_000, 5, 1.0
HADOOP_BYTES, HADOOP_ROUNDS, HADOOP_GOAL = 1_000_000_000, 2, 20.0
GROWTH_BYTES = (100_000_000, 1_000_000_000, 4_000_000_000)

Counter = Callable[[Path], None]
Rates = dict[str, list[float]]


def main() -> None:
    """Measure the selected programs, and print a line for each."""
    parser = argparse.ArgumentParser(description="wordcount and its peers")
    parser.add_argument("--growth", action="store_true", help="how time and memory grow")
    growth = parser.parse_args().growth
    largest = 2 * max(GROWTH_BYTES) if growth else 4 * HADOOP_BYTES
    with scratch_folder(largest) as folder:
        where = "loop-back ext4" if os.geteuid() == 0 else f"folder {folder}"
        print(f"{where}; {MEMORY_BYTES // units.MIB} MiB of memory, {THREADS} threads")
        if growth:
            Growing("wordcount", make_text, "text", OWN).print_growth(folder, GROWTH_BYTES)
        else:
            compare(folder)


def compare(folder: Path) -> None:
    """One line for every peer."""
    print("medians in MiB/s of text")
    peer: dict[str, Counter] = {PIPELINE: count_with_coreutils}
    _compare(folder, peer, PIPELINE_BYTES, PIPELINE_ROUNDS, PIPELINE_GOAL)
    if examples := hadoop.find_examples():
        peer = {HADOOP: partial(count_with_hadoop, examples)}
        _compare(folder, peer, HADOOP_BYTES, HADOOP_ROUNDS, HADOOP_GOAL)


def _compare(
    folder: Path, peer: Mapping[str, Counter], text_bytes: int, rounds: int, goal: float
) -> None:
    make_text(folder, text_bytes)
    rates = measure(folder, {OWN: count_natively} | dict(peer), text_bytes, rounds)
    shutil.rmtree(folder / "text")
    (name,) = peer
    medians = "".join(f"{statistics.median(rates[way]):9.1f}" for way in (OWN, name))
    ratio = format_ratio(name, rates[name], rates[OWN], goal)
    print(f"{text_bytes / 1e9:g} GB, {rounds} rounds: {medians}   {ratio}", flush=True)


def measure(folder: Path, counters: Mapping[str, Counter], text_bytes: int, rounds: int) -> Rates:
    """MiB/s of each in every round."""
    rates: Rates = {name: [] for name in counters}
    draw = random.Random(0)
    for _ in range(rounds):
        for name in draw.sample(list(counters), len(counters)):
            settle(folder)
            started = time.perf_counter()
            counters[name](folder)
            rates[name].append(text_bytes / units.MIB / (time.perf_counter() - started))
        for name in counters:
            if not filecmp.cmp(_output(folder, OWN), _output(folder, name), shallow=False):
                raise RuntimeError(f"{name} and {OWN} have counted differently")
        for name in counters:
            shutil.rmtree(folder / name)
    return rates


def make_text(folder: Path, text_bytes: int) -> None:
    """Two files of the words that the workload makes by default."""
    text = _native.ZipfText(
        str(folder / "text"),
        text_bytes=text_bytes,
        files=2,
        vocabulary=1_000_000,
        exponent=1.0,
        seed=1,
        threads=THREADS,
    )
    text.run()


def count_natively(folder: Path) -> None:
    """The workload's native job, with its verification."""
    own_seconds(folder)


def own_seconds(folder: Path) -> float:
    """How long counting the words of the folder's text into one synced file has taken."""
    job = _native.WordCount(
        [str(path) for path in _texts(folder)],
        str(folder / OWN),
        memory_bytes=MEMORY_BYTES,
        spill=[str(folder)],
        reducers=1,
        threads=THREADS,
        fsync=True,
    )
    return job.run().wall_seconds


def count_with_coreutils(folder: Path) -> None:
    """Words on lines, sorted, counted, and put into WordCount's form."""
    output = _output(folder, PIPELINE)
    output.parent.mkdir()
    limits = f"--buffer-size={MEMORY_BYTES}b --parallel={THREADS} --temporary-directory=."
    line = r"""awk '{ print $2 "\t" $1 }'"""
    pipeline = f"cat text/part-* | tr -s ' ' '\\n' | sort {limits} | uniq -c | {line}"
    environment = os.environ | {"LC_ALL": "C"}
    with output.open("wb") as out:
        command = ["sh", "-c", pipeline]
        subprocess.run(command, stdout=out, check=True, cwd=folder, env=environment)
        os.fsync(out.fileno())


def count_with_hadoop(examples: hadoop.Examples, folder: Path) -> None:
    """Hadoop's own WordCount."""
    examples.run("WordCount", folder / "text", folder / HADOOP, between=folder / "hadoop-tmp")


def _texts(folder: Path) -> list[Path]:
    return sorted((folder / "text").glob("part-*"))


def _output(folder: Path, name: str) -> Path:
    return folder / name / "part-r-00000"


if __name__ == "__main__":
    main()
