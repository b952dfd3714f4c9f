"""Sentences on the windows of a switchback study (pure)."""

from __future__ import annotations

from typing import assert_never

from iostudy.analysis.switchback.confirmation import MOST_BLOCKS, ConfirmationOutcome
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.ledger.rows import PlanRow
from iostudy.report.formatting import format_interval
from iostudy.report.topics.switchback.values import ConfirmationReport
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.units import format_seconds

_USE_TRIALS = "Use whole trials (decide: {mode: trials})."


def describe_plan(row: PlanRow) -> str:
    """Describe the planned windows, or the reason for their absence."""
    plan = row.plan
    if not isinstance(plan, WindowPlan):
        return f"whole trials decide: {row.reason}"
    return (
        f"{row.workload}: windows of {format_seconds(plan.window_seconds)} after a washout of "
        f"{format_seconds(plan.washout_seconds)}; a block takes "
        f"{format_seconds(plan.block_seconds)}"
    )


def describe_confirmation(workload: str, own: ConfirmationReport, factor: str = "") -> str:
    """A confirmation with its outcome, and what would decide an undecided one.

    ``factor`` is the one that varies alone, if any.
    """
    label = name_configuration(own.configuration, factor)
    difference = format_interval(own.difference_interval)
    match own.outcome:
        case ConfirmationOutcome.AGREE:
            found = f"agree within the margin (difference {difference} %)"
        case ConfirmationOutcome.DISAGREE:
            found = f"disagree (difference {difference} %). {_USE_TRIALS.removesuffix('.')}"
        case ConfirmationOutcome.UNDECIDED:
            found = f"are too imprecise (difference {difference} %): {_needed(own)}"
        case _:
            assert_never(own.outcome)
    return f"Confirmation of {label} on {workload}: trials and windows {found}."


def _needed(own: ConfirmationReport) -> str:
    if own.blocks_needed is None:
        return f"{MOST_BLOCKS} blocks of whole trials would not decide"
    return f"about {own.blocks_needed} blocks of whole trials would decide"
