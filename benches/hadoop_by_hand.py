"""Hadoop's TestDFSIO by hand, compared with ``iostudy bench hadoop.dfsio-write``.

Both write the same files into the same cluster with the same site files, in rounds of random order.
Needs Java and Hadoop's jars (through Maven or HADOOP_HOME). How many rounds may be given.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from benches.local_cluster import prepare_cluster
from benches.ratio import format_ratio
from iostudy_hadoop.client import Client
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import dfsio
from iostudy_hadoop.workloads.job import POLL

FILES, SIZE_MIB, ROUNDS = 2, 128, 10
POLL_MS = 100
"""What iostudy gives its jobs; by itself a client asks once a second whether its job has ended."""

Figures = Mapping[str, float]
"""``throughput`` in MiB/s and ``exec_time`` in seconds."""


def main() -> None:
    """Start a cluster, run all rounds, print for each figure its ratio with the interval."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(dir=".", prefix="by-hand-") as folder:
        cluster = prepare_cluster(Path(folder).resolve())
        try:
            cluster.start()
            client = cluster.configured({}, restart=False)
            Shell.for_client(client).make_folder(client.folder)
            measured = [_round(cluster, client) for _ in range(rounds)]
        finally:
            cluster.stop()
    for name, power in (("throughput", 1), ("exec_time", -1)):
        by_hand, ours = ([run[way][name] ** power for run in measured] for way in _WAYS)
        print(f"{name:<12} {format_ratio('TestDFSIO by hand', by_hand, ours, 1.0)}")


def _round(cluster: LocalCluster, client: Client) -> dict[str, Figures]:
    figures = {}
    for way in random.sample(list(_WAYS), len(_WAYS)):
        # Dirty pages of the previous run must not be written during the next.
        os.sync()
        figures[way] = _WAYS[way](client)
        cluster.settle()
        print(f"{way:<8}", dict(figures[way]), file=sys.stderr, flush=True)
    return figures


def _by_hand(client: Client) -> Figures:
    """As the manual has it, and -clean afterwards."""
    results = client.scratch / "by-hand.log"
    results.unlink(missing_ok=True)
    options = (f"-D{POLL}={POLL_MS}", f"-Dtest.build.data={client.folder}/by-hand")
    write = ("-write", "-nrFiles", str(FILES), "-size", f"{SIZE_MIB}MB", "-resFile", str(results))
    for arguments in (write, ("-clean",)):
        _run(client, *client.command(dfsio.MAIN_CLASS, *options, *arguments))
    result = dfsio.parse(results.read_text())
    return {"throughput": result.throughput_mib_per_second, "exec_time": result.exec_seconds}


def _by_iostudy(client: Client) -> Figures:
    options = ("-o", f"files={FILES}", "-o", f"size={SIZE_MIB}MiB")
    bench = ("bench", "hadoop.dfsio-write", "--target", client.folder, "--json")
    figures = json.loads(_run(client, sys.executable, "-m", "iostudy", *bench, *options))["figures"]
    return {name: figures[name]["value"] for name in ("throughput", "exec_time")}


def _run(client: Client, *command: str) -> str:
    environment = {**os.environ, **client.environment()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr[-2000:]}")
    return done.stdout


_WAYS: Mapping[str, Callable[[Client], Figures]] = {"by hand": _by_hand, "iostudy": _by_iostudy}


if __name__ == "__main__":
    main()
