"""How long a study will probably take, before it has begun."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostudy.study.model import Study
from iostudy.study.requests import trials
from iostudy.units import MIB, format_seconds

# An estimate needs some speed. This is a modest SSD's; the output says that it is assumed.
ASSUMED_MIB_PER_SECOND = 500


def expected_time(study: Study, blocks: Sequence[float]) -> str:
    """Of the trials whose time can be told before; which workloads are not among them.

    ``blocks`` are the fewest and the most of each workload.
    """
    speed = ASSUMED_MIB_PER_SECOND * MIB
    expected = [
        (request.label, workload.expected_seconds(speed))
        for request, workload in trials(study.workloads, study.configurations())
    ]
    unknown = ", ".join(dict.fromkeys(label for label, seconds in expected if seconds is None))
    known = sum(seconds for _, seconds in expected if seconds is not None)
    times = span(format_seconds(number * known) for number in blocks)
    told = f"{times}, if the storage moves {ASSUMED_MIB_PER_SECOND} MiB/s" if known else ""
    beside = f"nobody can tell that of {unknown} before" if unknown else ""
    return "; ".join(filter(None, (told, beside)))


def span(ends: Iterable[str]) -> str:
    """From the fewest to the most; one of them where they are the same."""
    return " to ".join(dict.fromkeys(ends))
