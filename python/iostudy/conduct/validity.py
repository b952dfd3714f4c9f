"""Whether a trial counts, by the rules that were declared before it ran (pure).

See "Validity" in docs/method.md. The other two rules - a setting that is not read back, a workload
that fails - end a trial by themselves, as errors.
"""

from __future__ import annotations

from iostudy.node.protocol import TrialResult
from iostudy.study.model import Validity
from iostudy.units import format_percent


def disturbance(result: TrialResult, limits: Validity) -> str:
    """Why the trial is invalid, in words with figures; empty if it is valid."""
    reasons = (_foreign_io(result, limits.foreign_io), _steal(result, limits.steal))
    return "; ".join(reason for reason in reasons if reason)


def foreign_share(result: TrialResult) -> float:
    """Bytes on the device that the workload did not cause, as a share of its own.

    0 where the workload moved fewer through the device than it asked for (the page cache served
    them), where it does not tell its bytes, or where there is no device.
    """
    own = result.figures.get("bytes", 0.0)
    device = result.telemetry.devices.get(result.device)
    if not own or device is None:
        return 0.0
    moved = (device["kB_read"] + device["kB_wrtn"]) * 1024
    return max(0.0, moved - own) / own


def _foreign_io(result: TrialResult, limit: float) -> str:
    share = foreign_share(result)
    if share <= limit:
        return ""
    return (
        f"foreign I/O on {result.device}: {format_percent(share)} of the workload's own bytes, "
        f"limit {format_percent(limit)}"
    )


def _steal(result: TrialResult, limit: float) -> str:
    share = result.telemetry.machine.get("%steal", 0.0) / 100
    if share <= limit:
        return ""
    taken = format_percent(share)
    return f"the hypervisor took {taken} of the CPU time, limit {format_percent(limit)}"
