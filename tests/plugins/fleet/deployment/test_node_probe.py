"""Probes of nodes that do not answer, or do not stop."""

from __future__ import annotations

from typing import Any

import pytest

from iostudy_fleet.deployment import node_probe
from iostudy_fleet.deployment.readiness import Readiness


class Node:
    """A node on which every command is this one."""

    name = "n1"
    python = "python"

    def __init__(self, *command: str) -> None:
        self._command = command

    def command(self, *_remote: str) -> list[str]:
        return list(self._command)


def probe(*command: str) -> str:
    node: Any = Node(*command)
    found = node_probe.probe_nodes([node], "s", "")["n1"]
    assert isinstance(found, Readiness)
    return str(found)


@pytest.mark.child
def test_a_node_without_an_answer_is_unreachable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(node_probe, "PROBE_SECONDS", 0.2)
    assert "no answer for 0.2 s" in probe("sleep", "infinity")


@pytest.mark.child
@pytest.mark.parametrize("output", ["", " >&2"])
def test_a_node_that_prints_without_end_is_unreachable(output: str):
    assert "more than 4194304 bytes of output" in probe("sh", "-c", f"exec yes{output}")
