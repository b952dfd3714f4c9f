"""Probes of nodes that do not answer."""

from __future__ import annotations

from typing import Any

import pytest

from iostudy.fleet.deployment import node_probe
from iostudy.fleet.deployment.readiness import Readiness


class Silent:
    """A node behind a lost link: its command never ends."""

    name = "n1"
    python = "python"

    def command(self, *_remote: str) -> list[str]:
        return ["sleep", "infinity"]


@pytest.mark.child
def test_a_node_without_an_answer_is_unreachable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(node_probe, "PROBE_SECONDS", 0.2)
    node: Any = Silent()
    found = node_probe.probe_nodes([node], "s", "")["n1"]
    assert isinstance(found, Readiness)
    assert "no answer for 0.2 s" in str(found)
