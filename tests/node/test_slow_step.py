"""Message about a slow call into the kernel."""

from __future__ import annotations

import threading

import pytest

from iostudy.node import local_block


def test_a_slow_step_is_reported_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_block, "SLOW_SECONDS", 0.01)
    reported, lines = threading.Event(), []

    def keep(line: str) -> None:
        lines.append(line)
        reported.set()

    with local_block.report_slow_step(keep, "dropping the page cache"):
        assert reported.wait()
    assert [line.partition(":")[0] for line in lines] == [
        "dropping the page cache takes over 10 ms"
    ]


def test_a_fast_step_is_not_reported() -> None:
    lines: list[str] = []
    with local_block.report_slow_step(lines.append, "writing out dirty pages"):
        pass
    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.join()
    assert not lines
