"""CPU time that the hypervisor gave to others (pure).

Source: proc_stat(5), steal: time in which this machine's virtual CPUs wanted to run, and did not.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.telemetry.limits.diagnosis import Finding, Limit
from iostudy.telemetry.limits.grade import Steps, told
from iostudy.telemetry.limits.ground import Ground
from iostudy.telemetry.seen import Seen

STOLEN = Steps(5, 10, 20)
"""Percent of all CPU time. Even where CPUs are idle in between, each wait lengthens what runs. The
first is a usual limit of steal (docs/method.md), each next one is twice as much."""


def find(seen: Seen, ground: Ground) -> Iterator[Finding]:
    """The hypervisor, if it took a part of the CPU time."""
    del ground
    if confidence := STOLEN.grade(seen.machine.get("%steal", 0.0)):
        evidence = (told(seen.machine, "%steal", "", "%", "it took {} % of all CPU time"),)
        yield Finding(Limit.STEAL, "", seen.machine["%steal"], confidence, evidence)
