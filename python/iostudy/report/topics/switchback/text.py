"""Sentences on the windows of a switchback study (pure)."""

from __future__ import annotations

from iostudy.ledger.rows import PilotRow
from iostudy.units import format_percent, format_seconds


def describe_plan(pilot: PilotRow) -> str:
    """The chosen windows of a workload with their expected cost, or why there are none."""
    plan = pilot.plan
    if plan is None:
        return f"whole trials decide: {pilot.reason}"
    washouts = ", ".join(
        f"{label} {format_seconds(own)}" for label, own in plan.washout_seconds.items()
    )
    return (
        f"{pilot.workload}: windows of {format_seconds(plan.window_seconds)}, washout {washouts}; "
        f"noise of a pair {format_percent(plan.deviation)}, about {plan.blocks} blocks in "
        f"{format_seconds(plan.expected_seconds)} find the margin"
    )
