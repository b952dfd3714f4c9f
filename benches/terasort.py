"""The terasort workload compared with GNU sort, two copies, and Hadoop: 1 GB, 256 MiB memory.

    python -m benches.terasort             # one of 10 M rows after the other, in rounds
    python -m benches.terasort --growth    # 0.1, 1 and 4 GB: time per GB and peak memory; minutes

What makes it fair. All sort the same file, on the same disk, with the same memory limit and number
of threads, into one file, which is synced within the measured time; what they spill is not. Dirty
pages are written out and the page cache is dropped before every run. GNU sort takes lines: so the
rows are TeraGen's with the last byte changed to a line end, and each line end in a key to the byte
after it. `LC_ALL=C`, a key of fixed width and no comparison of whole lines (-s) are what serves it
best; the outputs are compared byte by byte. "copied twice" reads the input, writes it, reads that
and writes it again, 1 MiB at a time by one thread, which is what any sort that spills once has to
move. The order is drawn afresh for every round, and ratios are taken within a round, so that drift
and neighbours cancel.

Hadoop's TeraSort takes part where Java is there, and Hadoop or Maven to fetch it: in one JVM with
the local runner, two map tasks at a time and all else as it comes, so that its memory is what the
JVM takes.
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

ROW_BYTES = 100
SIZE_BYTES = 10_000_000 * ROW_BYTES
MEMORY_BYTES = 256 * units.MIB
THREADS = 2
ROUNDS = 5
HADOOP_ROUNDS = 2
COPY_BYTES = units.MIB
OWN = "iostudy"
GOALS = {"GNU sort": 1.0, "copied twice": 1 / 2.5, "Hadoop": 20.0}
GROWTH_BYTES = (100_000_000, 1_000_000_000, 4_000_000_000)

Rates = dict[str, list[float]]
Sorter = Callable[[Path], None]


def main() -> None:
    """Measure the selected programs, and print a line for each."""
    parser = argparse.ArgumentParser(description="terasort and its peers")
    parser.add_argument("--growth", action="store_true", help="how time and memory grow")
    growth = parser.parse_args().growth
    largest = 4 * max(GROWTH_BYTES) if growth else 6 * SIZE_BYTES  # copies there are at a time
    with scratch_folder(largest) as folder:
        where = "loop-back ext4" if os.geteuid() == 0 else f"folder {folder}"
        print(f"{where}; {MEMORY_BYTES // units.MIB} MiB of memory, {THREADS} threads")
        if growth:
            Growing("terasort", make_rows, "rows", OWN).print_growth(folder, GROWTH_BYTES)
        else:
            compare(folder)


def compare(folder: Path) -> None:
    """One line for every peer."""
    make_rows(folder, SIZE_BYTES)
    peers: dict[str, Sorter] = {"GNU sort": gnu_sort, "copied twice": copy_twice}
    print(f"{SIZE_BYTES / 1e9:g} GB; {ROUNDS} rounds; medians in MiB/s of input")
    rates = measure(folder, {OWN: own_sort, **peers}, ROUNDS)
    for name in peers:
        print(_line(name, rates), flush=True)
    if examples := hadoop.find_examples():
        sorters = {OWN: own_sort, "Hadoop": partial(hadoop_sort, examples)}
        print(_line("Hadoop", measure(folder, sorters, HADOOP_ROUNDS)))


def measure(folder: Path, sorters: Mapping[str, Sorter], rounds: int) -> Rates:
    """MiB/s of every sorter in every round."""
    rates: Rates = {name: [] for name in sorters}
    draw = random.Random(0)
    for number in range(rounds):
        for name in draw.sample(list(sorters), len(sorters)):
            _remove(folder / name)
            settle(folder)
            started = time.perf_counter()
            sorters[name](folder)
            rates[name].append(SIZE_BYTES / units.MIB / (time.perf_counter() - started))
        if number == 0:
            _same_rows(folder, sorters)
        for name in sorters:
            _remove(folder / name)
    return rates


def own_sort(folder: Path) -> None:
    """The workload's native job."""
    own_seconds(folder)


def own_seconds(folder: Path) -> float:
    """How long sorting the rows of the folder into one file that is synced has taken."""
    job = _native.TeraSort(
        str(folder / "rows"),
        str(folder / OWN),
        rows=_rows(folder).stat().st_size // ROW_BYTES,
        memory_bytes=MEMORY_BYTES,
        spill=[str(folder)],
        reducers=1,
        threads=THREADS,
        direct=False,
        fsync=True,
    )
    return job.run().result.wall_seconds


def gnu_sort(folder: Path) -> None:
    """Sort by the first ten bytes of each line."""
    limits = [f"--buffer-size={MEMORY_BYTES}b", f"--parallel={THREADS}"]
    places = [f"--temporary-directory={folder}", f"--output={folder / 'GNU sort'}"]
    command = ["sort", "--stable", "--key=1.1,1.10", *limits, *places, str(_rows(folder))]
    subprocess.run(command, check=True, env=os.environ | {"LC_ALL": "C"})
    _sync(folder / "GNU sort")


def copy_twice(folder: Path) -> None:
    """Read, write, read again, write again."""
    between, output = folder / "between", folder / "copied twice"
    _copy(_rows(folder), between)
    _copy(between, output)
    _sync(output)
    between.unlink()


def hadoop_sort(examples: hadoop.Examples, folder: Path) -> None:
    """The local runner, in a JVM of its own."""
    between = folder / "hadoop-tmp"
    examples.run("terasort.TeraSort", folder / "rows", folder / "Hadoop", between=between)
    _sync(folder / "Hadoop" / "part-r-00000")


def make_rows(folder: Path, size_bytes: int) -> None:
    """Rows in one file, each a line."""
    job = _native.TeraGen(
        str(folder / "rows"),
        rows=size_bytes // ROW_BYTES,
        parts=1,
        threads=1,
        direct=False,
        fsync=False,
    )
    job.run()
    after_line_end = bytes.maketrans(b"\n", b"\v")
    with _rows(folder).open("r+b") as file:
        while content := bytearray(file.read(100_000 * ROW_BYTES)):
            content = content.translate(after_line_end)
            content[ROW_BYTES - 1 :: ROW_BYTES] = b"\n" * (len(content) // ROW_BYTES)
            file.seek(-len(content), os.SEEK_CUR)
            file.write(content)


def _line(peer: str, rates: Mapping[str, list[float]]) -> str:
    medians = f"{statistics.median(rates[OWN]):8.0f}{statistics.median(rates[peer]):8.0f}"
    return (
        f"{OWN} : {peer:14}{medians}   {format_ratio(peer, rates[peer], rates[OWN], GOALS[peer])}"
    )


def _same_rows(folder: Path, names: Mapping[str, Sorter]) -> None:
    outputs = {OWN: f"{OWN}/part-r-00000", "Hadoop": "Hadoop/part-r-00000"} | {
        "GNU sort": "GNU sort"
    }
    for name in outputs.keys() & names.keys():
        if not filecmp.cmp(folder / outputs[OWN], folder / outputs[name], shallow=False):
            raise RuntimeError(f"{name} and {OWN} have sorted differently")


def _rows(folder: Path) -> Path:
    return folder / "rows" / "part-m-00000"


def _copy(source: Path, target: Path) -> None:
    buffer = memoryview(bytearray(COPY_BYTES))
    with source.open("rb", buffering=0) as reading, target.open("wb", buffering=0) as writing:
        while count := reading.readinto(buffer):
            writing.write(buffer[:count])


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
