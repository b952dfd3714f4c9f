"""Facts of nodes on which this host can run a program, before anything is installed there."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from iostudy.fleet.deployment import probe as probe_module
from iostudy.fleet.deployment.nodes import RemoteNode
from iostudy.fleet.deployment.readiness import NodeFacts, Readiness, read_facts, unreachable

_AT_ONCE = 32
"""Connections that are opened at once; sshd limits those of one host (MaxStartups)."""
PROBE_SECONDS = 120.0
"""Time for `iostudy check` on a node. A connection over a lost link would wait for hours."""


def probe_nodes(
    nodes: Sequence[RemoteNode], study: str, text: str
) -> dict[str, NodeFacts | Readiness]:
    """The facts of each node by its name, or why there are none."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        found = threads.map(lambda node: _probe(node, study, text), nodes)
        return {node.name: own for node, own in zip(nodes, found, strict=True)}


def _probe(node: RemoteNode, study: str, text: str) -> NodeFacts | Readiness:
    """Run `probe` there; its source comes through stdin, so nothing has to be installed."""
    call = f"import json\nprint(json.dumps(probe({study!r}, {text!r})))\n"
    try:
        done = subprocess.run(
            node.command(node.python, "-"),
            input=f"{inspect.getsource(probe_module)}\n{call}",
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=PROBE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return unreachable(node.name, f"no answer for {PROBE_SECONDS:g} s", "look at the network")
    facts = read_facts(_last_json(done.stdout))
    if facts is not None and done.returncode == 0:
        return facts
    problem = node.explain(done.returncode, done.stderr)
    return unreachable(node.name, problem.found, problem.remedy)


def _last_json(output: str) -> Any:
    """The value of the last line: a login shell may print others before."""
    lines = output.splitlines()
    try:
        return json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
