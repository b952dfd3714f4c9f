"""Statistics of a modelled drive, and when they make a trial invalid."""

from __future__ import annotations

from dataclasses import replace

from iostudy_lab.device.statistics import DriveStatistics

MS = 1_000_000
ON_TIME = DriveStatistics(
    reads=1000,
    writes=0,
    flushes=0,
    service_ns=1000 * 12 * MS,
    lateness_ns={30_000: 991, 900_000: 9},
    over_depth=0,
)


def test_percentiles_and_means() -> None:
    assert ON_TIME.mean_service_ns == 12 * MS
    assert (ON_TIME.lateness_percentile(0.5), ON_TIME.lateness_percentile()) == (30_000, 30_000)
    assert ON_TIME.lateness_percentile(1.0) == 900_000


def test_figures_are_in_microseconds() -> None:
    assert ON_TIME.figures() == {"service_us": 12_000.0, "late_us": 30.0}


def test_an_interval_is_a_difference() -> None:
    later = replace(
        ON_TIME,
        reads=1001,
        service_ns=ON_TIME.service_ns + 5 * MS,
        lateness_ns={30_000: 991, 70_000: 1, 900_000: 9},
    )
    passed = later.since(ON_TIME)
    assert (passed.commands, passed.lateness_ns, passed.service_ns) == (1, {70_000: 1}, 5 * MS)


def test_on_time() -> None:
    assert ON_TIME.invalid_reason() == ""
    none = DriveStatistics(0, 0, 0, 0, {}, 0)
    assert none.invalid_reason() == ""


def test_late_by_the_absolute_limit() -> None:
    late = replace(ON_TIME, service_ns=1000 * 2 * MS, lateness_ns={1000: 980, 260_000: 20})
    assert "by up to 260 us, more than 250 us" in late.invalid_reason()


def test_late_for_a_long_service_time() -> None:
    late = replace(ON_TIME, service_ns=1000 * 10 * MS, lateness_ns={1000: 980, 510_000: 20})
    assert "by up to 510 us, more than 500 us" in late.invalid_reason()
    assert replace(late, lateness_ns={1000: 980, 490_000: 20}).invalid_reason() == ""


def test_late_against_a_short_service_time() -> None:
    late = replace(ON_TIME, service_ns=1000 * MS, lateness_ns={30_000: 1000})
    assert late.mean_lateness_ns == 30_000
    assert "by 30.0 us on average, more than 2 % of the mean service" in late.invalid_reason()
    longer = replace(late, lateness_ns={10_000: 950, 200_000: 50})
    assert longer.invalid_reason() == ""


def test_a_drive_without_reads_and_writes_delays_none() -> None:
    flushes = DriveStatistics(0, 0, flushes=3, service_ns=0, lateness_ns={40_000: 3}, over_depth=0)
    assert flushes.invalid_reason() == ""


def test_a_queue_that_was_full() -> None:
    assert "3 commands found the queue" in replace(ON_TIME, over_depth=3).invalid_reason()
