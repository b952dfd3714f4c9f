"""Foreign I/O on several devices that share the files of a workload."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iostudy.execution.validity import (
    exceeds_limits,
    explain_disturbance,
    foreign_io_share,
    note_unchecked_limits,
)
from iostudy.node.protocol import TrialResult
from iostudy.study.sections import Validity
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import ForeignProcess, Submitter, TelemetrySummary
from iostudy.units import MIB
from iostudy.workloads.measurement import BYTES

LIMITS = Validity(foreign_io=0.10)


def result(further: tuple[str, ...] = (), **written_mib: int) -> TrialResult:
    """A workload of 100 MiB on the device ``first``, and on the further ones."""
    devices = {name: {"kB_read": 0.0, "kB_wrtn": mib * 1024.0} for name, mib in written_mib.items()}
    telemetry = Telemetry(TelemetrySummary(1.0, devices, {}), Samples(np.array([0.0, 1.0]), {}))
    return TrialResult({BYTES: 100.0 * MIB}, {}, telemetry, ("first", *further), {}, ())


def test_a_neighbour_is_noticed_on_one_of_several_that_share_the_files() -> None:
    explanation = explain_disturbance(
        result(("second", "third"), first=33, second=33, third=84), LIMITS
    )
    assert explanation.startswith("foreign I/O on first and second and third: 50 %")


def test_the_io_of_all_devices_of_the_files_is_not_foreign() -> None:
    assert explain_disturbance(result(("second",), first=50, second=50), LIMITS) == ""


def test_a_trial_with_unrequested_settings_does_not_count() -> None:
    departed = replace(result(first=100), departures=("a log failed: /disk2",))
    assert explain_disturbance(departed, LIMITS) == "a log failed: /disk2"


def test_devices_below_each_other_are_not_added_up() -> None:
    assert explain_disturbance(result(first=100, disk=100), LIMITS) == ""


def observed(
    machine: dict[str, float], *foreign: ForeignProcess, seconds: float = 60.0
) -> TrialResult:
    """A workload of 100 MiB on one device, on which 145 MiB moved."""
    devices = {"sda": {"kB_read": 0.0, "kB_wrtn": 145 * 1024.0}} if foreign else {}
    summary = TelemetrySummary(seconds, devices, machine, foreign=foreign)
    telemetry = Telemetry(summary, Samples(np.array([0.0, 1.0]), {}))
    return TrialResult({BYTES: 100.0 * MIB}, {}, telemetry, ("sda",), {}, ())


def test_foreign_io_names_only_who_was_counted_on_the_device() -> None:
    updatedb = Submitter("sda", "updatedb", 812, 41 * 1024.0)
    elsewhere = Submitter("sdb", "fio", 9, 500 * 1024.0)
    explanation = explain_disturbance(submitted(elsewhere, updatedb), LIMITS)
    assert explanation == (
        "foreign I/O on sda: 45 % of the workload's own bytes, limit 10 %; "
        "most of it by updatedb, process 812, 41.0 MiB"
    )
    part = replace(updatedb, kB=20 * 1024.0)
    explanation = explain_disturbance(submitted(part), LIMITS)
    assert explanation.endswith("; some of it by updatedb, process 812, 20.0 MiB")
    writer = ForeignProcess(7, "writer", 50.0, 0.0, 41 * 1024.0)
    assert explain_disturbance(observed({}, writer), LIMITS).endswith("limit 10 %")


def submitted(*submitters: Submitter) -> TrialResult:
    """A trial on whose device others were counted, and 45 MiB of foreign bytes."""
    result = observed({}, ForeignProcess(7, "spinner", 50.0, 0.0, 0.0))
    summary = replace(result.telemetry.summary, submitters=submitters)
    return replace(result, telemetry=replace(result.telemetry, summary=summary))


def test_foreign_cpu_counts_where_a_limit_is_declared() -> None:
    limits = Validity(foreign_cpu=0.25)
    spinner = ForeignProcess(7, "spinner", 72.0, 0.0, 0.0)
    busy = {"foreign_%cpu": 120.0, "cores": 4.0}
    assert explain_disturbance(observed(busy, spinner), limits) == (
        "other processes took 30 % of the CPU time, limit 25 %; "
        "most of it by spinner (pid 7), 72.0 s"
    )
    assert explain_disturbance(observed(busy | {"cores": 8.0}, spinner), limits) == ""
    several = observed(busy, ForeignProcess(7, "spinner", 5.0, 0.0, 0.0))
    assert explain_disturbance(several, limits).endswith("; some of it by spinner (pid 7), 5.0 s")
    assert explain_disturbance(observed(busy), LIMITS) == ""


def test_a_declared_limit_that_cannot_be_judged_is_reported() -> None:
    limits = Validity(foreign_cpu=0.25)
    for unknown in ({}, {"cores": 4.0}, {"foreign_%cpu": 120.0}):
        assert explain_disturbance(observed(unknown), limits) == ""
        (note,) = note_unchecked_limits(observed(unknown), limits)
        assert note.startswith("foreign_cpu was not checked")
        (note,) = note_unchecked_limits(observed(unknown), LIMITS)
        assert note.startswith("foreign_io was not checked")
    assert note_unchecked_limits(result(first=100), LIMITS) == ()
    assert note_unchecked_limits(observed({"foreign_%cpu": 0.0, "cores": 4.0}), limits) == ()


def test_foreign_io_is_unknown_without_a_device_or_bytes() -> None:
    assert foreign_io_share(observed({})) is None
    assert foreign_io_share(replace(result(first=100), figures={})) is None
    assert foreign_io_share(result(first=100)) == 0.0


def test_a_machine_that_slept_has_measured_nothing() -> None:
    explanation = explain_disturbance(observed({"suspended_s": 12.0}), LIMITS)
    assert explanation == "the machine was suspended for 12.0 s while the workload ran"
    assert explain_disturbance(observed({"suspended_s": 0.01}), LIMITS) == ""


def test_a_stopped_process_ends_validity():
    summary = TelemetrySummary(60.0, {}, {}, workload={"stopped_s": 3.0})
    assert exceeds_limits(summary, Validity())
    result = replace(observed({}), telemetry=replace(observed({}).telemetry, summary=summary))
    explanation = explain_disturbance(result, Validity())
    assert explanation == "a process of the workload was stopped (SIGSTOP) for about 3.0 s"
    assert not exceeds_limits(replace(summary, workload={"stopped_s": 0.0}), Validity())


def test_a_long_time_without_a_sample_says_nothing() -> None:
    explanation = explain_disturbance(observed({"longest_gap_s": 20.0}), LIMITS)
    assert explanation.startswith("no sample for 20.0 s of 60.0 s, limit 25 %")
    assert explain_disturbance(observed({"longest_gap_s": 14.0}), LIMITS) == ""
    assert explain_disturbance(observed({"longest_gap_s": 4.0}, seconds=6.0), LIMITS) == ""


def test_by_default_no_disturbance_is_a_ground_for_discarding() -> None:
    """CPU steal, foreign I/O and foreign CPU are covariates; suspension and gaps invalidate."""
    spinner = ForeignProcess(7, "spinner", 72.0, 900 * 1024.0, 0.0)
    machine = {"%steal": 40.0, "foreign_%cpu": 390.0, "cores": 4.0}
    assert explain_disturbance(observed(machine, spinner), Validity()) == ""
    assert explain_disturbance(observed({"suspended_s": 12.0}), Validity())
    assert explain_disturbance(observed({"longest_gap_s": 20.0}), Validity())


def test_only_an_exceeded_limit_is_a_disturbance_that_may_pass() -> None:
    machine = {"%steal": 40.0, "foreign_%cpu": 80.0, "cores": 4.0, "%foreign": 30.0}
    summary = TelemetrySummary(60.0, {}, machine)
    assert not exceeds_limits(summary, Validity())
    assert not exceeds_limits(summary, Validity(foreign_io=0.3, steal=0.4, foreign_cpu=0.2))
    for limits in (Validity(foreign_io=0.29), Validity(steal=0.39), Validity(foreign_cpu=0.19)):
        assert exceeds_limits(summary, limits)
    assert exceeds_limits(TelemetrySummary(60.0, {}, {"suspended_s": 12.0}), Validity())
    assert exceeds_limits(TelemetrySummary(60.0, {}, {"longest_gap_s": 20.0}), Validity())
    assert not exceeds_limits(
        TelemetrySummary(60.0, {}, {"longest_gap_s": 60.0}), Validity(gap=1.0)
    )
