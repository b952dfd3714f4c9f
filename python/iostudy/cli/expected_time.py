"""Estimate of a study's duration before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostudy.study.model import Study
from iostudy.study.requests import list_trials
from iostudy.units import MIB, format_rounded_size, format_seconds

# An estimate needs some speed. This is a modest SSD's; the output says that it is assumed.
ASSUMED_BYTES_PER_SECOND = 500 * MIB


def format_expected_time(study: Study, blocks: Sequence[float]) -> str:
    """Estimate the time of the trials, and list the workloads without an estimate.

    ``blocks`` are the fewest and the most of each workload.
    """
    known, labels = estimate_block_seconds(study)
    unknown = ", ".join(labels)
    times = format_range(format_seconds(number * known) for number in blocks)
    speed = format_rounded_size(assumed_speed(study))
    estimate = f"{times}, if the storage moves {speed}/s" if known else ""
    unestimated = f"no estimate for {unknown}" if unknown else ""
    return "; ".join(filter(None, (estimate, unestimated)))


def estimate_block_seconds(study: Study) -> tuple[float, tuple[str, ...]]:
    """Return the time of a block in seconds, and the workloads that it excludes."""
    speed = assumed_speed(study)
    expected = [
        (request.label, workload.expected_seconds(speed))
        for request, workload in list_trials(study.workloads, study.configurations())
    ]
    unknown = dict.fromkeys(label for label, seconds in expected if seconds is None)
    return sum(seconds for _, seconds in expected if seconds is not None), tuple(unknown)


def assumed_speed(study: Study) -> int:
    """Return the bytes per second of an estimate, at most the study's limit of the load."""
    return min(ASSUMED_BYTES_PER_SECOND, study.limit.rate or ASSUMED_BYTES_PER_SECOND)


def format_range(ends: Iterable[str]) -> str:
    """Format a range ``A to B``; one value if both are equal."""
    return " to ".join(dict.fromkeys(ends))
