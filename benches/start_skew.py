"""Skew of joint starts on nodes in namespaces: ``python -m benches.start_skew [STARTS] [NODES]``.

As root. Every node has a real sshd, an agent, a server of trials, and a monotonic clock of its
own in a time namespace, so the true offsets are known.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np
from tests.plugins.fleet.namespaces import Namespaces

from iostudy.execution.session import refuse_other_circumstances
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy_fleet.deployment.inventory import read_nodes
from iostudy_fleet.deployment.source import NodeSource
from iostudy_fleet.design import Design
from iostudy_fleet.options import RunOptions
from iostudy_fleet.record import FleetRecord
from iostudy_fleet.together.crew import Crew, Together
from iostudy_fleet.together.run import TogetherFleet
from iostudy_fleet.together.trial_messages import Call

STARTS = 100
CLOCKS = {"s1": 0, "s2": 1000, "s3": -3600, "s4": 17}
SSHD_SECONDS = 2
LEASE_SECONDS = 60.0
TEXT = """\
question: Which?
target: TARGET
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
"""


def measure_starts(crew: Crew, study: Study, count: int) -> list[Together]:
    """Run one configuration so often on all nodes."""
    request, configuration = study.workloads[0], study.baseline
    crew.run(lambda _: Call("begin_block", (request.label, 1)), crew.nodes)
    trials = [
        crew.run_together(lambda _: Call("trial", (configuration,)), crew.nodes)
        for _ in range(count)
    ]
    crew.run(lambda _: Call("end_block"), crew.nodes)
    return trials


def measure(spaces: Namespaces, folder: Path, count: int) -> list[Together]:
    """Start the fleet in the namespaces and measure its starts."""
    source = NodeSource(read_nodes(spaces.start(), [], python=sys.executable, sudo=False), print)
    time.sleep(SSHD_SECONDS)
    (folder / "target").mkdir()
    study = parse(TEXT.replace("TARGET", str(folder / "target")), where="bench", name="bench")
    record = FleetRecord(
        identity="0", design=Design.TOGETHER, study=study.name, text=study.text, nodes={}
    )
    options = RunOptions(lease_seconds=LEASE_SECONDS, parent=folder, study_options=())
    with source.connect() as client:
        fleet = TogetherFleet(
            client=client,
            order=options.build_order(record),
            folders=options.name_folders(record, client.nodes),
            out=folder,
            record=record,
            on_lost=print,
            on_returned=print,
            say=print,
            require_same=refuse_other_circumstances,
        )
        with fleet.open(study.decide.margin) as node:
            return measure_starts(node.crew, study, count)


def print_result(found: list[Together], clocks: Mapping[str, int]) -> None:
    """Print skews, and the errors of offsets with their bounds."""
    starts = [
        [trial.values[node]["span"]["began"] - ahead for node, ahead in clocks.items()]
        for trial in found
    ]
    offsets = [(trial.offsets[node], ahead) for trial in found for node, ahead in clocks.items()]
    pairs = [(offset, true) for both, true in offsets for offset in both]
    errors = np.array([abs(offset.seconds - true) for offset, true in pairs])
    bounds = np.array([offset.error for offset, _ in pairs])
    skews = np.ptp(np.array(starts), axis=1)
    print(f"{len(clocks)} nodes, {len(found)} starts, load average {os.getloadavg()[0]:.1f}")
    for title, column in (("start skew", skews), ("offset error", errors), ("RTT/2", bounds)):
        median, p99 = 1000 * np.percentile(column, (50, 99))
        longest = 1000 * column.max()
        print(f"{title:13} median {median:.3f} ms, p99 {p99:.3f} ms, max {longest:.3f} ms")
    print(f"offsets outside their bound: {(errors > bounds).sum()} of {len(errors)}")


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else STARTS
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else len(CLOCKS)
    clocks = dict(islice(CLOCKS.items(), nodes))
    with tempfile.TemporaryDirectory() as folder:
        spaces = Namespaces(Path(folder), tuple(clocks), clocks)
        try:
            results = measure(spaces, Path(folder), count)
        finally:
            spaces.end()
    print_result(results, clocks)


if __name__ == "__main__":
    main()
