"""Lateness of modelled drives in words."""

from __future__ import annotations

from iostudy.telemetry.summary import TelemetrySummary
from iostudy_lab.lateness import describe_lateness


def recording(**late: float) -> TelemetrySummary:
    devices = {name: {"late_us": value, "service_us": 9000.0} for name, value in late.items()}
    return TelemetrySummary(seconds=1.0, devices={**devices, "sda": {"r/s": 1.0}}, machine={})


def test_the_largest_lateness_of_all_trials_is_described() -> None:
    found = describe_lateness([recording(loop0=21.0, loop1=30.5), recording(loop0=207.0)])
    assert found.endswith("at most 207 us late")


def test_other_disks_are_never_late() -> None:
    assert describe_lateness([recording()]) == ""
