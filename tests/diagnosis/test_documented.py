"""docs/telemetry/bottlenecks.md has a row for each limit, with the rules' thresholds."""

from __future__ import annotations

from pathlib import Path

from iostudy.diagnosis.bottleneck import Bottleneck
from tests.diagnosis.test_situations import RAMPS

PAGE = Path(__file__).parents[2] / "docs/telemetry/bottlenecks.md"


def row(limit: Bottleneck) -> str:
    return next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {limit} |"))


def test_every_limit_has_a_row():
    assert all(map(row, Bottleneck))


def test_the_documented_steps_are_those_of_the_rules():
    for limit, steps, _ in RAMPS:
        assert f"{steps.low:g} / {steps.medium:g} / {steps.high:g}" in row(limit)
