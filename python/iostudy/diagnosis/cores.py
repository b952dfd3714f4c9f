"""The processors that the workload may use (pure).

Source: sched_getaffinity(2). A cpuset, as of a batch system or a container, or an affinity, as of
taskset(1), leaves it some of many.
"""

from __future__ import annotations

from iostudy.telemetry.summary import TelemetrySummary


def its_cores(seen: TelemetrySummary) -> float:
    """How many it may use: all of them, if nothing is known of fewer."""
    every = _every(seen)
    return min(every, seen.workload.get("allowed_cores", every))


def is_confined(seen: TelemetrySummary) -> bool:
    """Whether it may use fewer than there are."""
    return its_cores(seen) < _every(seen)


def in_words(seen: TelemetrySummary) -> str:
    """Those of a workload that is confined."""
    count = its_cores(seen)
    return f"the {count:.0f} cores that it may use" if count > 1 else "the one core that it may use"


def _every(seen: TelemetrySummary) -> float:
    return seen.machine.get("cores", 1.0)
