"""What a running study shows on stderr, on a terminal and off it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from iostudy.cli import console, progress
from iostudy.conduct.session import assign
from iostudy.node.fake import Disturbance, FakeNode
from iostudy.study.schema import parse

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, bfq]}
workloads: [dfsio-write]
decide: {margin: 3%, risk: 5%, blocks: [5, 8]}
"""


@pytest.fixture(params=[True, False], ids=["terminal", "plain"])
def shown(request, tmp_path, monkeypatch):

    screen = Console(file=io.StringIO(), force_terminal=request.param, width=120, highlight=False)
    monkeypatch.setattr(console, "err", screen)
    monkeypatch.setattr(progress, "err", screen)
    study = parse(TEXT, where="study.yaml", name="study")
    node = FakeNode(noise=0.06, script={1: Disturbance(steal=0.9)})
    with progress.listener() as listening:
        assign(study, tmp_path, root=True, resume=False).carry_out(
            node, root=True, seed=1, listeners=[listening]
        )
    return request.param, screen.file.getvalue()


def test_a_line_a_block_with_the_time_left(shown):
    _, text = shown
    assert "study: 2 configurations x 1 workloads, up to 8 blocks, seed 1" in text
    for block in range(1, 9):
        assert f"block {block}/8 dfsio-write:" in text
    assert "at most 0 ms left" in text


def test_a_repeated_block_is_told_with_its_reason(shown):
    _, text = shown
    assert "attempt 1 does not count" in text
    assert "the hypervisor took 90 %" in text


def test_what_the_noise_allows_is_told_once(shown):
    _, text = shown
    assert text.count("will probably stay inconclusive in 8 blocks") == 1


def test_the_table_of_verdicts_is_live_on_a_terminal_only(shown):
    on_terminal, text = shown
    assert ("inconclusive" in text.split("block 1/8")[1].split("block 2/8")[0]) == on_terminal
    assert ("\x1b[" in text) == on_terminal
