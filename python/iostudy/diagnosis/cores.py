"""Number of processors that the workload may use (pure).

Source: sched_getaffinity(2). A cpuset (batch system, container) or an affinity (taskset(1))
restricts a workload to some of the machine's processors.
"""

from __future__ import annotations

from iostudy.telemetry.summary import TelemetrySummary


def count_allowed_cores(summary: TelemetrySummary) -> float:
    """Return how many processors it may use: all of them unless a restriction is known."""
    cores = _count_cores(summary)
    return min(cores, summary.workload.get("allowed_cores", cores))


def has_restricted_affinity(summary: TelemetrySummary) -> bool:
    """Return whether it may use fewer processors than the machine has."""
    return count_allowed_cores(summary) < _count_cores(summary)


def format_allowed_cores(summary: TelemetrySummary) -> str:
    """Describe the allowed processors of a restricted workload."""
    count = count_allowed_cores(summary)
    return f"the {count:.0f} cores that it may use" if count > 1 else "the one core that it may use"


def _count_cores(summary: TelemetrySummary) -> float:
    return summary.machine.get("cores", 1.0)
