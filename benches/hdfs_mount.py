"""Reads through ``iostudy mount``, compared with the same client without FUSE, and with WebHDFS.

    python -m benches.hdfs_mount [ROUNDS]

Needs `make hdfs`, root, Java and Hadoop's jars. A cluster of one DataNode on this machine serves a
file that stays in the page cache, so client and FUSE are measured, not a disk or a network. Ways
alternate in random order. The page cache of the mount is dropped by opening the file anew.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.plugins.hadoop import webhdfs

from benches.local_cluster import prepare_cluster
from benches.ratio import format_ratio
from iostudy.settings import kinds
from iostudy.settings.transaction.transaction import Transaction
from iostudy.units import KIB, MIB, format_size
from iostudy_hadoop.existing.mountable import HdfsDirectory
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.mount.mounted import HdfsMount
from iostudy_hadoop.mount.options import MountOptions

ROUNDS = 6
FILE_BYTES = 512 * MIB
PIECE_BYTES = MIB
RANDOM_READS, RANDOM_BYTES = 50, 4 * KIB
MOUNTS = ((64 * KIB, 128), (128 * KIB, 128), (MIB, 128), (10 * MIB, 128), (10 * MIB, 1024))
"""Read buffer, and read-ahead of the kernel in KiB."""
GOAL = 0.9
PATH = "/bench/file"
DIRECT = ("cargo", "run", "--release", "--locked", "--quiet", "--example", "direct")
CRATE = ("--manifest-path", "crates/hdfs-mount/Cargo.toml", "--target-dir", "target/hdfs-mount")


def main() -> None:
    """Print the sequential ratio and the random latencies of each mount."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(dir=".", prefix="hdfs-mount-") as name:
        folder = Path(name).resolve()
        cluster = prepare_cluster(folder)
        try:
            cluster.start()
            webhdfs.write(cluster, PATH, os.urandom(FILE_BYTES))
            _compare(cluster, folder, rounds)
        finally:
            cluster.stop()


def _compare(cluster: LocalCluster, folder: Path, rounds: int) -> None:
    filesystem = cluster.layout.default_fs
    with _mounts(filesystem, folder) as points:
        ways: dict[str, Callable[[Sequence[int]], tuple[float, float]]] = {
            "direct": lambda offsets: _read_directly(filesystem, offsets),
            "WebHDFS": lambda offsets: _read_by_web(cluster, offsets),
        }
        for (size, read_ahead), point in points.items():
            file = point / PATH.lstrip("/")
            name = f"{format_size(size)}, read-ahead {read_ahead}KiB"
            ways[name] = lambda offsets, file=file: _read_file(file, offsets)
        measured = [_round(ways) for _ in range(rounds)]
    direct = [run["direct"] for run in measured]
    for name in ways:
        runs = [run[name] for run in measured]
        rates = [sequential for sequential, _ in runs]
        latency = statistics.median(latency for _, latency in runs)
        print(f"{name:<28} {statistics.mean(rates):6.1f} MiB/s; {latency * 1e3:6.2f} ms")
        if name != "direct":
            print(f"  {format_ratio('direct', [rate for rate, _ in direct], rates, GOAL)}")


def _round(
    ways: Mapping[str, Callable[[Sequence[int]], tuple[float, float]]],
) -> dict[str, tuple[float, float]]:
    """For each way the sequential MiB/s, and the median seconds of a random read."""
    blocks = (FILE_BYTES - RANDOM_BYTES) // RANDOM_BYTES
    offsets = [random.randrange(blocks) * RANDOM_BYTES for _ in range(RANDOM_READS)]
    results = {name: ways[name](offsets) for name in random.sample(list(ways), len(ways))}
    print({name: tuple(map(float, times)) for name, times in results.items()}, file=sys.stderr)
    return results


def _read_directly(filesystem: str, offsets: Sequence[int]) -> tuple[float, float]:
    (seconds,) = _run_direct(filesystem)
    latencies = _run_direct(filesystem, str(RANDOM_BYTES), *map(str, offsets))
    return FILE_BYTES / MIB / seconds, statistics.median(latencies)


def _run_direct(filesystem: str, *ranges: str) -> list[float]:
    command = (*DIRECT, *CRATE, "--", filesystem, PATH, *ranges)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [float(line) for line in done.stdout.splitlines()]


def _read_by_web(cluster: LocalCluster, offsets: Sequence[int]) -> tuple[float, float]:
    """Read by HTTP: each random read asks the NameNode, which redirects it to a DataNode."""
    begin = time.perf_counter()
    for _ in webhdfs.read_pieces(cluster, PATH, PIECE_BYTES):
        pass
    rate = FILE_BYTES / MIB / (time.perf_counter() - begin)
    latencies = []
    for offset in offsets:
        begin = time.perf_counter()
        webhdfs.read(cluster, PATH, offset, RANDOM_BYTES)
        latencies.append(time.perf_counter() - begin)
    return rate, statistics.median(latencies)


def _read_file(path: Path, offsets: Sequence[int]) -> tuple[float, float]:
    begin = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(PIECE_BYTES):
            pass
    rate = FILE_BYTES / MIB / (time.perf_counter() - begin)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    latencies = [_timed_read(descriptor, offset) for offset in offsets]
    os.close(descriptor)
    return rate, statistics.median(latencies)


def _timed_read(descriptor: int, offset: int) -> float:
    begin = time.perf_counter()
    os.pread(descriptor, RANDOM_BYTES, offset)
    return time.perf_counter() - begin


@contextmanager
def _mounts(filesystem: str, folder: Path) -> Iterator[dict[tuple[int, int], Path]]:
    """A mount for each read buffer and read-ahead."""
    points = {key: folder / f"mount{number}" for number, key in enumerate(MOUNTS)}
    (folder / "state").mkdir()
    with Transaction(directory=folder / "state") as transaction:
        for (size, read_ahead), point in points.items():
            point.mkdir()
            options = MountOptions(size)
            directory = HdfsDirectory(filesystem, "/")
            transaction.apply(HdfsMount.prepare(point, directory, options))
            (setting,) = kinds.bind("bdi.read_ahead_kb", point)
            transaction.apply(*kinds.prepare_changes({setting: str(read_ahead)}))
        yield points


if __name__ == "__main__":
    main()
