"""Facts of nodes on which this host can run a program, before anything is installed there."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from iostudy.fleet import probe as probe_module
from iostudy.fleet.nodes import RemoteNode, SshNode, last_message
from iostudy.fleet.readiness import NodeFacts, Readiness, read_facts, unreachable

_AT_ONCE = 32
"""Connections that are opened at once; sshd limits those of one host (MaxStartups)."""
_NO_CONNECTION = 255
"""ssh(1): exit code of an error of ssh itself."""
_NOT_FOUND = (126, 127)
_NO_PROGRAM = "execve()"
"""Slurm's message if it cannot start a program."""
PROBE_SECONDS = 120.0
"""Time for `iostudy check` on a node. A connection whose link is lost would wait for hours."""


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
    return _explain(node, done)


def _last_json(output: str) -> Any:
    """The value of the last line: a login shell may print others before."""
    lines = output.splitlines()
    try:
        return json.loads(lines[-1]) if lines else None
    except ValueError:
        return None


def _explain(node: RemoteNode, done: subprocess.CompletedProcess[str]) -> Readiness:
    said = last_message(done.stderr)
    if done.returncode == _NO_CONNECTION and isinstance(node, SshNode):
        return unreachable(node.name, f"no connection: {said}", f"make `ssh {node.host}` work")
    if done.returncode in _NOT_FOUND or _NO_PROGRAM in said:
        return unreachable(
            node.name,
            f"no Python in {node.python}: {said}",
            "install iostudy[fleet] there and name its Python (--python or iostudy_python)",
        )
    if node.sudo and said.startswith("sudo"):
        return unreachable(node.name, said, "let sudo run without a password, or connect as root")
    return unreachable(
        node.name,
        f"no facts, exit code {done.returncode}: {said}",
        f"`{' '.join(node.command(node.python, '--version'))}` shows more",
    )
