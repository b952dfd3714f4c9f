"""Whether a trial counts, by the rules that were declared before it ran (pure).

See "Validity" in docs/method.md. The other rules - a setting that is not read back, a workload
that fails - end a trial by themselves, as errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from iostudy.node.protocol import TrialResult
from iostudy.study.model import Validity
from iostudy.telemetry.covariates import Covariate, covariates_of
from iostudy.telemetry.summary import ForeignProcess, TelemetrySummary
from iostudy.units import KIB, MIB, format_percent, format_rounded_size
from iostudy.workloads.definition import BYTES, Figure

FLOOR_BYTES = MIB
"""So much a file system may write for itself in a trial: inodes, bitmaps, its journal."""
FLOOR_SUSPENDED_SECONDS = 0.5
"""The two clocks that tell it are read one after the other; no machine sleeps that shortly."""
FLOOR_GAP_SECONDS = 5.0
"""So long a machine under load may keep a thread from running."""


def undecidable(figures: Mapping[str, float], figure: Figure) -> str:
    """Why the figure that verdicts use says nothing, in words; empty if it can be compared.

    Verdicts are of ratios, so it has to be there, above 0 and finite.
    """
    if figure.name not in figures:
        return f"the workload gave no {figure.name}, which is the figure that verdicts use"
    value = figures[figure.name]
    if math.isfinite(value) and value > 0:
        return ""
    return f"{figure.name} is {value:g} {figure.unit}, and verdicts need a figure above 0"


def disturbance(result: TrialResult, limits: Validity) -> str:
    """Why the trial is invalid, in words with figures; empty if it is valid."""
    reasons = (
        *result.departures,
        _foreign_io(result, limits.foreign_io),
        _foreign_cpu(result, limits.foreign_cpu),
        _steal(result, limits.steal),
        _suspended(result.telemetry.seen),
        _gap(result.telemetry.seen, limits.gap),
    )
    return "; ".join(reason for reason in reasons if reason)


def is_disturbed(seen: TelemetrySummary, limits: Validity) -> bool:
    """Whether a recorded trial exceeded a limit, which a quieter machine may meet."""
    shares = covariates_of(seen)
    requested = {
        Covariate.STEAL: limits.steal,
        Covariate.FOREIGN_CPU: limits.foreign_cpu,
        Covariate.FOREIGN_IO: limits.foreign_io,
    }
    exceeded = (
        limit is not None and shares.get(covariate, 0.0) > limit
        for covariate, limit in requested.items()
    )
    return any(exceeded) or bool(_suspended(seen) or _gap(seen, limits.gap))


def unjudged(result: TrialResult, limits: Validity) -> tuple[str, ...]:
    """The declared limits that the trial could not be held against, each as a note."""
    known = covariates_of(result.telemetry.seen)
    if limits.foreign_cpu is None or Covariate.FOREIGN_CPU in known:
        return ()
    return (
        "foreign_cpu was not judged: what other processes took of the CPU time is not known here",
    )


def foreign_share(result: TrialResult) -> float:
    """The largest share, over the devices below the target, of bytes that are not the workload's.

    On each device: what moved beyond the bytes that the workload reports, as a share of these.
    0 where the page cache served part of them, where the workload does not tell its bytes, or
    where there is no device. Up to FLOOR_BYTES are put down to the file system's own metadata.
    """
    return max((share for _, share in _shares(result)), default=0.0)


def _foreign_io(result: TrialResult, limit: float | None) -> str:
    device, share = max(_shares(result), key=lambda found: found[1], default=("", 0.0))
    if limit is None or share <= limit:
        return ""
    return (
        f"foreign I/O on {device}: {format_percent(share)} of the workload's own bytes, "
        f"limit {format_percent(limit)}{_blamed(result, share)}"
    )


def _blamed(result: TrialResult, share: float) -> str:
    """The process that moved most of what is foreign, in words; empty where none is known."""
    foreign_bytes = share * result.figures[BYTES]
    busiest = max(result.telemetry.seen.foreign, key=_moved, default=None)
    if busiest is None or _moved(busiest) * KIB <= FLOOR_BYTES:
        return ""
    moved = round(_moved(busiest) * KIB)
    size = format_rounded_size(moved)
    return f"; {_much(moved, foreign_bytes)} of it by {busiest.name} (pid {busiest.pid}), {size}"


def _moved(process: ForeignProcess) -> float:
    return process.read_kB + process.written_kB


def _foreign_cpu(result: TrialResult, limit: float | None) -> str:
    seen = result.telemetry.seen
    share = covariates_of(seen).get(Covariate.FOREIGN_CPU)
    if limit is None or share is None or share <= limit:
        return ""
    busiest = max(seen.foreign, key=lambda process: process.cpu_seconds, default=None)
    taken, named = seen.machine["foreign_%cpu"] / 100 * seen.seconds, ""
    if busiest is not None:
        much = _much(busiest.cpu_seconds, taken)
        named = f"; {much} of it by {busiest.name} (pid {busiest.pid}), {busiest.cpu_seconds:.1f} s"
    return (
        f"other processes took {format_percent(share)} of the CPU time, "
        f"limit {format_percent(limit)}{named}"
    )


def _much(part: float, whole: float) -> str:
    return "most" if 2 * part >= whole else "some"


def _suspended(seen: TelemetrySummary) -> str:
    seconds = seen.machine.get("suspended_s", 0.0)
    if seconds < FLOOR_SUSPENDED_SECONDS:
        return ""
    return f"the machine was suspended for {seconds:.1f} s while the workload ran"


def _gap(seen: TelemetrySummary, limit: float) -> str:
    gap = seen.machine.get("longest_gap_s", 0.0)
    if gap <= max(limit * seen.seconds, FLOOR_GAP_SECONDS):
        return ""
    return (
        f"no sample for {gap:.1f} s of {seen.seconds:.1f} s, limit {format_percent(limit)}: "
        "what the machine did meanwhile is not known"
    )


def _shares(result: TrialResult) -> list[tuple[str, float]]:
    """Each device of the stack with its share: a neighbour may be at work on any of them.

    Devices that share the workload's files have one together, too: each of them moves but a part.
    """
    own = result.figures.get(BYTES, 0.0)
    if not own:
        return []
    moved = {
        device: (figures["kB_read"] + figures["kB_wrtn"]) * KIB
        for device, figures in result.telemetry.seen.devices.items()
    }
    if len(result.devices) > 1:
        together = sum(moved.get(device, 0.0) for device in result.devices)
        moved[" and ".join(result.devices)] = together
    return [
        (device, (total - own) / own if total - own > FLOOR_BYTES else 0.0)
        for device, total in moved.items()
    ]


def _steal(result: TrialResult, limit: float | None) -> str:
    share = covariates_of(result.telemetry.seen).get(Covariate.STEAL, 0.0)
    if limit is None or share <= limit:
        return ""
    taken = format_percent(share)
    return f"the hypervisor took {taken} of the CPU time, limit {format_percent(limit)}"
