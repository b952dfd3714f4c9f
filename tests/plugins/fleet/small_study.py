"""A small study for fleets, and the arguments that run it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.cli.program import Program
from tests.plugins.fleet.hosts import Hosts
from tests.plugins.fleet.namespaces import Namespaces

STUDY = """\
question: Which?
target: TARGET
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [LEAST, BLOCKS]}
"""
DECLARED = """\
question: Which?
target: FOLDER/target
settings: {app.size: {read: FOLDER/size, write: "FOLDER/size {}"}}
factors: {app.size: [1, 2]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [3, 4]}
"""
KNOB = """\
#!/bin/sh
parent=$PPID state=
while [ -z "$state" ] && [ "$parent" -gt 1 ]; do
    state=$(tr '\\0' '\\n' <"/proc/$parent/environ" | sed -n 's/^IOSTUDY_STATE_DIR=//p')
    parent=$(sed -n 's/^PPid:\\s*//p' "/proc/$parent/status")
done
[ $# = 0 ] || echo "$1" | tee -a "$state/../log" >"$state/../size"
cat "$state/../size"
"""
"""A program with a value of its own on each node: the nodes share this machine."""
HANG_GUARD_SECONDS = 100


def build_study(target: Path, blocks: int, least: int) -> str:
    text = STUDY.replace("TARGET", str(target))
    return text.replace("LEAST", str(least)).replace("BLOCKS", str(blocks))


def write_study(hosts: Hosts, blocks: int, least: int = 3) -> None:
    hosts.controller.write(build_study(hosts.folder / "target", blocks, least))


def write_declared_study(hosts: Hosts, more: str = "") -> None:
    """Write a study of a setting of its own, which has a value on each node."""
    for name in hosts.names:
        (hosts.folder / "nodes" / name / "size").write_text("7\n")
    (hosts.folder / "size").write_text(KNOB)
    (hosts.folder / "size").chmod(0o755)
    hosts.controller.write(DECLARED.replace("FOLDER", str(hosts.folder)) + more)


def require_varied_and_restored(hosts: Hosts) -> None:
    """AssertionError if a node has not tried both values, or has not its own again."""
    for name in hosts.names:
        node = hosts.folder / "nodes" / name
        assert {"1", "2"} <= {*(node / "log").read_text().split()}
        assert (node / "size").read_text() == "7\n"


def run_arguments(hosts: Hosts, nodes: str, lease: str = "8s") -> list[str]:
    work = str(hosts.folder / "work")
    options = ["--nodes", nodes, "--out", "out", "--lease", lease, "--work", work]
    return ["fleet", "run", "study.yaml", *options]


def prepare_run(
    spaces: Namespaces,
    program: Program,
    blocks: int,
    *,
    more: str = "",
    lease: str = "12s",
    design: str = "replicate",
) -> list[str]:
    """Start the nodes and write a study of so many blocks; return the arguments of its run."""
    target = program.folder / "target"
    target.mkdir()
    program.write(build_study(target, blocks, least=blocks) + more)
    options = ["--inventory", str(spaces.start()), "--limit", "nodes", "--out", "out"]
    options += ["--work", str(program.folder / "work"), "--lease", lease, "--design", design]
    return ["fleet", "run", "study.yaml", *options]


def wait_until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + HANG_GUARD_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)
