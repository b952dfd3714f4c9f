"""Validity of trials by the declared limits (pure).

See docs/method/validity.md. A changed setting is an error that ends a trial. A failed workload
is a result of its configuration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from iostudy.node.protocol import TrialResult
from iostudy.study.sections import Validity
from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.telemetry.processes import compute_foreign_kb, find_submitters
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import KIB, MIB, format_percent, format_rounded_size
from iostudy.workloads.definition import Figure
from iostudy.workloads.measurement import BYTES

MIN_FOREIGN_BYTES = MIB
"""Bytes of metadata that a file system may write in a trial: inodes, bitmaps, its journal."""
MIN_SUSPENDED_SECONDS = 0.5
"""Tolerance of the two clocks, which are read in sequence; suspensions last longer."""
MIN_GAP_SECONDS = 5.0
"""Seconds that a loaded machine may keep a thread from running."""


def explain_unusable_figures(figures: Mapping[str, float], required: Sequence[Figure]) -> str:
    """Explain why one of the verdict figures cannot be compared; empty if all can.

    Verdicts use ratios, so each must exist, be above 0 and finite.
    """
    for figure in required:
        if figure.name not in figures:
            return f"the workload gave no {figure.name}, a figure of the verdict"
        value = figures[figure.name]
        if not (math.isfinite(value) and value > 0):
            return f"{figure.name} is {value:g} {figure.unit}, and a verdict needs a figure above 0"
    return ""


def explain_disturbance(result: TrialResult, limits: Validity) -> str:
    """Explain why the trial is invalid; empty if it is valid."""
    summary = result.telemetry.summary
    shares = compute_covariates(summary)
    reasons = (
        *result.departures,
        _foreign_io(result, limits.foreign_io),
        _foreign_cpu(summary, shares.get(Covariate.FOREIGN_CPU), limits.foreign_cpu),
        _steal(shares.get(Covariate.STEAL, 0.0), limits.steal),
        _suspended(summary),
        _gap(summary, limits.gap),
        _stopped(summary),
    )
    return "; ".join(reason for reason in reasons if reason)


def exceeds_limits(summary: TelemetrySummary, limits: Validity) -> bool:
    """Return whether a recorded trial exceeded a limit that a quieter machine may meet."""
    shares = compute_covariates(summary)
    requested = {
        Covariate.STEAL: limits.steal,
        Covariate.FOREIGN_CPU: limits.foreign_cpu,
        Covariate.FOREIGN_IO: limits.foreign_io,
    }
    exceeded = (
        limit is not None and shares.get(covariate, 0.0) > limit
        for covariate, limit in requested.items()
    )
    halted = _suspended(summary) or _gap(summary, limits.gap) or _stopped(summary)
    return any(exceeded) or bool(halted)


def note_unchecked_limits(result: TrialResult, limits: Validity) -> tuple[str, ...]:
    """Return a note for each declared limit that could not be checked."""
    covariates = compute_covariates(result.telemetry.summary)
    notes = []
    if limits.foreign_cpu is not None and Covariate.FOREIGN_CPU not in covariates:
        notes.append(
            "foreign_cpu was not checked: the CPU time of other processes is not known here"
        )
    if limits.foreign_io is not None and foreign_io_share(result) is None:
        notes.append(
            "foreign_io was not checked: the bytes of a device or the workload are unknown"
        )
    return tuple(notes)


def foreign_io_share(result: TrialResult) -> float | None:
    """Return the largest share of foreign bytes over the devices below the target.

    On each device: the bytes of others (`compute_foreign_kb`), as a share of those that the
    workload reports. 0 if the page cache served part of them. None if the workload reports no
    bytes, or without a device. Up to MIN_FOREIGN_BYTES are the file system's metadata.
    """
    return max((share for _, share in _shares(result)), default=None)


def _foreign_io(result: TrialResult, limit: float | None) -> str:
    devices, share = max(_shares(result), key=lambda pair: pair[1], default=((), 0.0))
    if limit is None or share <= limit:
        return ""
    return (
        f"foreign I/O on {' and '.join(devices)}: {format_percent(share)} of the workload's own "
        f"bytes, limit {format_percent(limit)}{_format_submitter(result, devices, share)}"
    )


def _format_submitter(result: TrialResult, devices: Sequence[str], share: float) -> str:
    """Format the process with the most counted I/O on the devices; empty if none was counted."""
    for most in find_submitters(result.telemetry.summary, devices)[:1]:
        part = _most_or_some(most.kB * KIB, share * result.figures[BYTES])
        return f"; {part} of it by {most.title}, {format_rounded_size(round(most.kB * KIB))}"
    return ""


def _foreign_cpu(summary: TelemetrySummary, share: float | None, limit: float | None) -> str:
    if limit is None or share is None or share <= limit:
        return ""
    busiest = max(summary.foreign, key=lambda process: process.cpu_seconds, default=None)
    taken, named = summary.machine["foreign_%cpu"] / 100 * summary.seconds, ""
    if busiest is not None:
        much = _most_or_some(busiest.cpu_seconds, taken)
        named = f"; {much} of it by {busiest.name} (pid {busiest.pid}), {busiest.cpu_seconds:.1f} s"
    return (
        f"other processes took {format_percent(share)} of the CPU time, "
        f"limit {format_percent(limit)}{named}"
    )


def _most_or_some(part: float, whole: float) -> str:
    return "most" if 2 * part >= whole else "some"


def _suspended(summary: TelemetrySummary) -> str:
    seconds = summary.machine.get("suspended_s", 0.0)
    if seconds < MIN_SUSPENDED_SECONDS:
        return ""
    return f"the machine was suspended for {seconds:.1f} s while the workload ran"


def _stopped(summary: TelemetrySummary) -> str:
    seconds = summary.workload.get("stopped_s", 0.0)
    if not seconds:
        return ""
    return f"a process of the workload was stopped (SIGSTOP) for about {seconds:.1f} s"


def _gap(summary: TelemetrySummary, limit: float) -> str:
    gap = summary.machine.get("longest_gap_s", 0.0)
    if gap <= max(limit * summary.seconds, MIN_GAP_SECONDS):
        return ""
    return (
        f"no sample for {gap:.1f} s of {summary.seconds:.1f} s, limit {format_percent(limit)}: "
        "the state of the machine in that time is unknown"
    )


def _shares(result: TrialResult) -> list[tuple[Sequence[str], float]]:
    """Return the foreign share of each device of the stack.

    Devices that share the workload's files also have a joint share: each moves only a part.
    """
    moved = result.figures.get(BYTES, 0.0)
    if not moved:
        return []
    summary = result.telemetry.summary
    groups: list[tuple[str, ...]] = [(device,) for device in summary.devices]
    if len(result.devices) > 1:
        groups.append(result.devices)
    foreign = [compute_foreign_kb(summary, group, moved / KIB) * KIB for group in groups]
    return [
        (group, size / moved if size > MIN_FOREIGN_BYTES else 0.0)
        for group, size in zip(groups, foreign, strict=True)
    ]


def _steal(share: float, limit: float | None) -> str:
    if limit is None or share <= limit:
        return ""
    taken = format_percent(share)
    return f"the hypervisor took {taken} of the CPU time, limit {format_percent(limit)}"
