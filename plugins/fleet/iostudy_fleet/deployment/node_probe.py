"""Facts of nodes on which this host can run a program, before anything is installed there."""

from __future__ import annotations

import inspect
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from iostudy_fleet.deployment import probe as probe_module
from iostudy_fleet.deployment.nodes import RemoteNode
from iostudy_fleet.deployment.readiness import NodeFacts, Readiness, read_facts, unreachable

_AT_ONCE = 32
"""Connections that are opened at once; sshd limits those of one host (MaxStartups)."""
PROBE_SECONDS = 120.0
"""Time for `iostudy check` on a node. A connection over a lost link would wait for hours."""
_MOST_BYTES = 4 << 20
"""Of each output of a node."""


def probe_nodes(
    nodes: Sequence[RemoteNode], study: str, text: str
) -> dict[str, NodeFacts | Readiness]:
    """The facts of each node by its name, or why there are none."""
    call = f"import json\nprint(json.dumps(probe({study!r}, {text!r})))\n"
    source = f"{inspect.getsource(probe_module)}\n{call}".encode()
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        answers = threads.map(partial(_probe, source=source), nodes)
        return {node.name: facts for node, facts in zip(nodes, answers, strict=True)}


def _probe(node: RemoteNode, source: bytes) -> NodeFacts | Readiness:
    """Run `probe` there; its source comes through stdin, so nothing has to be installed."""
    try:
        code, output, messages = _run(node.command(node.python, "-P", "-"), source)
    except TimeoutError:
        return unreachable(node.name, f"no answer for {PROBE_SECONDS:g} s", "look at the network")
    except OverflowError as error:
        return unreachable(node.name, str(error), "look at what its shell prints")
    lines = output.splitlines()  # a login shell may print some before
    facts = read_facts(lines[-1]) if lines else None
    if facts is not None and code == 0:
        return facts
    problem = node.explain(code, messages)
    return unreachable(node.name, problem.found, problem.remedy)


def _run(command: Sequence[str], source: bytes) -> tuple[int, str, str]:
    """Exit code and outputs of a command; TimeoutError if it is late, OverflowError for more."""
    end = time.monotonic() + PROBE_SECONDS
    with tempfile.TemporaryFile() as script:
        script.write(source)
        script.seek(0)
        with subprocess.Popen(
            command, stdin=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                output, messages = _read_outputs(process, end)
                code = process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired as error:
                raise TimeoutError from error
            finally:
                process.kill()  # nothing if it has ended
    return code, output.decode(errors="replace"), messages.decode(errors="replace")


def _read_outputs(process: subprocess.Popen[bytes], end: float) -> tuple[bytes, bytes]:
    assert process.stdout is not None
    assert process.stderr is not None
    outputs = {process.stdout: b"", process.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for pipe in outputs:
            selector.register(pipe, selectors.EVENT_READ, pipe)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                piece = os.read(key.fd, _MOST_BYTES)
                if not piece:
                    selector.unregister(key.fileobj)
                outputs[key.data] += piece
                if len(outputs[key.data]) > _MOST_BYTES:
                    raise OverflowError(f"more than {_MOST_BYTES} bytes of output")
    return outputs[process.stdout], outputs[process.stderr]
