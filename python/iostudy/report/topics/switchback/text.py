"""Sentences on the windows of a switchback study (pure)."""

from __future__ import annotations

from typing import assert_never

from iostudy.analysis.switchback.confirmation import MOST_BLOCKS, ConfirmationOutcome
from iostudy.ledger.rows import PilotRow
from iostudy.report.formatting import format_change_interval, format_count, format_interval
from iostudy.report.topics.switchback.confirmation import RECOMMENDED
from iostudy.report.topics.switchback.values import (
    CarryOver,
    CarryOverReport,
    ConfirmationReport,
)
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.units import format_percent, format_seconds

_USE_TRIALS = "Use whole trials (decide: {mode: trials})."


def describe_plan(pilot: PilotRow) -> str:
    """Describe the planned windows and their expected cost, or the reason for their absence."""
    plan = pilot.plan
    if plan is None:
        return f"whole trials decide: {pilot.reason}"
    washouts = ", ".join(
        f"{label} {format_seconds(own)}" for label, own in plan.washout_seconds.items()
    )
    return (
        f"{pilot.workload}: windows of {format_seconds(plan.window_seconds)}, washout {washouts}; "
        f"noise of a pair {format_percent(plan.deviation)}; "
        f"{format_count(plan.expected_rounds, 'round')} in "
        f"{format_seconds(plan.expected_seconds)} would find the margin; the time has room for "
        f"{plan.affordable_rounds}"
    )


def describe_effect(workload: str, own: CarryOverReport, factor: str = "") -> str:
    """A flagged effect with its figure and what it means for the verdicts.

    ``factor`` is the one that varies alone, if any.
    """
    change = format_change_interval(own.effect, own.interval)
    group = name_configuration(own.group, factor)
    match own.source:
        case CarryOver.POSITION:
            return (
                f"Position on {workload}: windows at position {own.group} of a round differ by "
                f"{change} from the others. The random order balances this effect. A difference of "
                "position 1 can be a response that has not settled, because position 1 follows a "
                "period of the same configuration."
            )
        case CarryOver.PREVIOUS:
            return (
                f"Carry-over on {workload}: windows after {group} differ by {change} from the "
                "others. The random order balances this effect, but a state that outlives the "
                f"washout also makes differences too small. {_USE_TRIALS}"
            )
        case CarryOver.RESIDENCE:
            return (
                f"Residence on {workload}: windows of {group} after itself differ by {change} from "
                "those after another configuration. Its response may not have settled, which "
                f"biases its verdict. {_USE_TRIALS}"
            )
        case CarryOver.DRIFT:
            return (
                f"Drift on {workload}: the figures change by "
                f"{format_change_interval(own.slope, own.slope_interval)} a second. Windows of "
                f"{group} are later than those of the baseline, which biases its comparison by "
                f"{change}. {_USE_TRIALS}"
            )
        case _:
            assert_never(own.source)


def describe_confirmation(workload: str, own: ConfirmationReport, factor: str = "") -> str:
    """A confirmation with its reason, its outcome, and what would decide an undecided one.

    ``factor`` is the one that varies alone, if any.
    """
    label = name_configuration(own.configuration, factor)
    reason = "it is recommended" if own.reason == RECOMMENDED else own.reason
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
    return f"Confirmation of {label} on {workload} ({reason}): trials and windows {found}."


def _needed(own: ConfirmationReport) -> str:
    if own.blocks_needed is None:
        return f"{MOST_BLOCKS} blocks of whole trials would not decide"
    return f"about {own.blocks_needed} blocks of whole trials would decide"
