from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence
from iostudy.errors import LedgerError
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.samples import read_samples, write_samples
from iostudy.report.render import markdown
from iostudy.report.topics import bottlenecks
from iostudy.report.topics.bottlenecks import DisturbanceSource, build_timeline_charts
from iostudy.report.topics.next_steps import REMEDIES
from iostudy.report.values import Report
from iostudy.results.trial_contexts import build_run_context, prepare_trial_contexts
from iostudy.study.requests import build_request
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.timeline import build_timeline
from iostudy.workloads import catalog
from tests.report.factory import CIRCUMSTANCES, build_report, factor, report, rows, study, study_row

EQUAL: Mapping[tuple[str, str], float] = {}
LABELS = ("none", "mq-deadline")


def two(*workloads: str, **fields: object) -> Report:
    """Two equal configurations, every trial with these figures."""
    experiment = study(factor("block.scheduler", *LABELS), workloads=workloads or ("file-writes",))
    trials = [saw(row, **fields) for row in rows(experiment, blocks=12, effects=EQUAL, noise=0.002)]
    return build_report(experiment, study_row(experiment), trials)


def saw(row: TrialRow, util: float = 0.0, **fields: object) -> TrialRow:
    """The trial with other figures of the device, the machine or the workload."""
    assert row.summary is not None
    loop = {**row.summary.devices["loop0"], **({"%util": util} if util else {})}
    return replace(row, summary=replace(row.summary, devices={"loop0": loop}, **fields))  # type: ignore[arg-type]


def mounted(place: str, kind: str, source: str = "") -> dict[str, str]:
    """A mount as the inventory lists it."""
    return {"point": place, "source": source or f"server:{place}", "filesystem": kind}


ONE_CORE = {"workload": {"%thread": 99.0, "threads": 1.0}, "util": 6.0}


def test_runs_without_the_figure_of_the_verdict_are_diagnosed_too() -> None:
    own = study(factor("block.scheduler", *LABELS), workloads=("file-writes",))
    trials = [
        replace(row, status=TrialStatus.FAILED, figures={"bytes": 1.0})
        if row.configuration == "mq-deadline"
        else row
        for row in rows(own)
    ]
    assert [limit.trials for limit in build_report(own, study_row(own), trials).limits] == [8, 8]


def test_the_limit_of_each_configuration_is_counted_over_its_trials() -> None:
    limits = report().limits
    assert [(own.workload, own.configuration) for own in limits[:2]] == [
        ("file-writes", "none"),
        ("file-writes", "mq-deadline"),
    ]
    assert all(sum(own.limits.values()) == own.trials == 8 for own in limits)
    assert limits[0].limit is Bottleneck.DEVICE
    assert (limits[0].of, limits[0].confidence) == ("loop0", Confidence.MEDIUM)


@pytest.mark.parametrize(
    ("places", "limit"),
    [
        ({"/data": "nfs4", "/mnt/other": "ext4"}, (Bottleneck.NFS, "/data")),
        ({"/data": "tmpfs", "/mnt/other": "nfs4"}, (Bottleneck.UNCLEAR, "")),
    ],
)
def test_a_trial_is_judged_by_the_nfs_mount_of_its_target_alone(
    places: Mapping[str, str], limit: tuple[Bottleneck, str]
) -> None:
    experiment = study(factor("block.scheduler", *LABELS), workloads=("file-writes",))
    mounts = {place: mounted(place, kind) for place, kind in places.items()}
    host = {**CIRCUMSTANCES["host"], "mounts": mounts}
    waited = {"w/s": 900.0, "w_exe": 30.0, "w_rtt": 18.0, "w_queue": 12.0}
    nfs = dict.fromkeys(("/data", "/mnt/other", "/home"), waited)
    trials = [replace(saw(row, nfs=nfs), devices=()) for row in rows(experiment, effects=EQUAL)]
    limits = build_report(
        experiment, study_row(experiment, {**CIRCUMSTANCES, "host": host}), trials
    ).limits
    assert {(own.limit, own.of) for own in limits} == {limit}


@pytest.mark.all_plugins
def test_a_file_system_mounted_twice_is_counted_once() -> None:
    logs = ("/mnt/one", "/mnt/two", "/mnt/other")
    options = catalog.get("nnthroughput").options.model_validate({"logs": ", ".join(logs)})
    sources = ("server:/log", "server:/log", "server:/other")
    mounts = {p: mounted(p, "nfs4", source) for p, source in zip(logs, sources, strict=True)}
    ground = build_run_context({"host": {"mounts": mounts}}, (), "nnthroughput", options, {})
    assert ground.nfs_mounts == ("/mnt/one", "/mnt/other")


@pytest.mark.all_plugins
def test_log_on_nfs_is_diagnosed_by_its_mount_and_other_files_by_their_disk() -> None:
    options = catalog.get("nnthroughput").options.model_validate({"logs": "log, /mnt/journal"})
    mounts = {"/data": "ext4", "/mnt/journal": "nfs4"}
    host = {"mounts": {place: mounted(place, kind) for place, kind in mounts.items()}}
    ground = build_run_context({"host": host}, ("loop0",), "nnthroughput", options, {})
    assert ground.nfs_mounts == ("/mnt/journal",)


@pytest.mark.all_plugins
def test_reported_waits_of_a_workload_enter_its_diagnosis() -> None:
    definition = catalog.get("nnthroughput")
    options = definition.options.model_validate({"logs": "a, b"})
    figures = {"lock_share": 3.0, "buffer_share": 1.0, "sync_share": 72.0, "writing_share": 85.0}
    ground = build_run_context({}, ("loop0",), "nnthroughput", options, {}).add_run_figures(figures)
    tree, buffer, log = ground.serial
    assert (tree.waited, tree.used, tree.stores) == (3.0, None, False)
    assert (buffer.waited, buffer.stores) == (1.0, False)
    assert (log.name, log.waited, log.used, log.stores) == (
        "2 copies, synced one after the other",
        72.0,
        85.0,
        True,
    )
    del figures["writing_share"]
    of_before = build_run_context({}, ("loop0",), "nnthroughput", options, {}).add_run_figures(
        figures
    )
    assert of_before.serial == (tree, buffer)


@pytest.mark.all_plugins
def test_recorded_name_node_run_has_its_coverage_and_polling_threads() -> None:
    options = catalog.get("hadoop.nnthroughput").options()
    ground = build_run_context({}, (), "hadoop.nnthroughput", options, {}).add_run_figures(
        {"exec_time": 3.5}
    )
    assert (ground.measured_seconds, ground.spins) == (3.5, True)


@pytest.mark.all_plugins
def test_each_trial_is_diagnosed_by_its_own_waits() -> None:
    experiment = replace(
        study(factor("workload.sync", "fdatasync", "dsync"), workloads=("file-writes",)),
        workloads=(build_request("nnthroughput", catalog.get("nnthroughput").options()),),
    )
    shares = {"lock_share": 3.0, "buffer_share": 0.0, "writing_share": 90.0, "rate": 1000.0}
    trials = [
        replace(
            saw(row, util=50.0),
            figures={**shares, "sync_share": 80.0 if row.configuration == "dsync" else 10.0},
        )
        for row in rows(experiment, effects=EQUAL)
    ]
    build_context = prepare_trial_contexts(experiment, CIRCUMSTANCES, trials)
    shown = {
        row.configuration: diagnose(row.summary, build_context(row)).limit
        for row in trials
        if row.summary
    }
    assert shown == {"fdatasync": Bottleneck.UNCLEAR, "dsync": Bottleneck.LOG}


def test_names_of_disks_are_those_of_the_study() -> None:
    options = catalog.get("io").options()
    circumstances = {"target": {"disks": {"loop6": "suspect"}}}
    context = build_run_context(circumstances, ("loop6",), "io", options, {})
    assert (context.title("loop6"), context.title("loop7")) == ("loop6 (suspect)", "loop7")


@pytest.mark.parametrize(
    ("polls", "spins"),
    [({}, False), ({"iopoll": True}, True), ({"iopoll": True, "sqpoll": True}, False)],
)
def test_polling_workload_is_diagnosed_as_busy_waiting(
    polls: dict[str, bool],
    *,
    spins: bool,
) -> None:
    requested = {"engine": "io_uring", "direct": True, "depth": 8, **polls}
    options = catalog.get("io").options.model_validate(requested)
    assert build_run_context({}, ("nvme0n1",), "io", options, {}).spins is spins


def test_the_typical_trial_has_the_most_frequent_limit_and_is_nearest_the_median() -> None:
    experiment = study(factor("block.scheduler", "none"), workloads=("file-writes",))
    trials = rows(experiment, blocks=5)
    values = [100.0, 101.0, 102.0, 103.0, 104.0]
    trials = [
        replace(row, figures={**(row.figures or {}), "bandwidth": value})
        for row, value in zip(trials, values, strict=True)
    ]
    trials[2] = saw(trials[2], **ONE_CORE)
    (limits,) = build_report(experiment, study_row(experiment), trials).limits
    assert limits.limits == {Bottleneck.DEVICE: 4, Bottleneck.CORE: 1}
    assert limits.typical in (2, 4)
    assert limits.confidence is Confidence.MEDIUM


def test_bottleneck_of_few_trials_has_low_confidence() -> None:
    experiment = study(factor("block.scheduler", "none"), workloads=("file-writes",))
    trials = rows(experiment, blocks=5)
    trials[:2] = [saw(row, **ONE_CORE) for row in trials[:2]]
    (limits,) = build_report(experiment, study_row(experiment), trials).limits
    assert limits.limits[Bottleneck.DEVICE] == 3
    assert (limits.confidence, limits.typical_confidence) == (Confidence.LOW, Confidence.MEDIUM)


def test_a_confidence_that_is_not_the_typical_trials_says_why() -> None:
    experiment = study(factor("block.scheduler", "none"), workloads=("file-writes",))
    trials = rows(experiment, blocks=5)
    assert "| medium |" in markdown.render(build_report(experiment, study_row(experiment), trials))
    trials[:2] = [saw(row, **ONE_CORE) for row in trials[:2]]
    report = build_report(experiment, study_row(experiment), trials)
    why = f"low, as 3 of 5 trials share it (medium in trial {report.limits[0].typical})"
    assert why in markdown.render(report)


def test_equivalence_is_explained_where_both_had_the_same_limit() -> None:
    report = two(**ONE_CORE)
    assert report.workloads[0].results[1].verdict is Verdict.EQUIVALENT
    assert report.workloads[0].explanation.startswith(
        "one core of the CPU was the bottleneck of both configurations: "
    )
    assert "loop0 was busy at most 6 % of the time" in report.workloads[0].explanation
    assert any("no disk setting can make a difference" in said for said in report.answer)
    assert report.headline.endswith(
        ": one core of the CPU was the bottleneck of all configurations."
    )


def test_busy_device_is_not_ruled_out() -> None:
    report = two(util=97.0)
    assert report.workloads[0].explanation.startswith(
        "the device loop0 was the bottleneck of both configurations: "
    )
    assert "no disk setting" not in report.workloads[0].explanation


def test_equivalence_is_unexplained_with_different_or_uncertain_bottlenecks() -> None:
    experiment = study(factor("block.scheduler", *LABELS), workloads=("file-writes",))
    trials = rows(experiment, blocks=12, effects=EQUAL, noise=0.002)
    differing = [saw(row, **(ONE_CORE if row.configuration == "none" else {})) for row in trials]
    unsure = [saw(row, util=82.0) for row in trials]
    for own in (differing, unsure):
        report = build_report(experiment, study_row(experiment), own)
        assert report.workloads[0].results[1].verdict is Verdict.EQUIVALENT
        assert report.workloads[0].explanation == ""
        assert "limit of" not in report.headline


def test_differences_have_no_equivalence_explanation() -> None:
    assert "limit of all" not in report(noise=0.002).headline


@pytest.mark.parametrize(
    ("varied", "message"),
    [
        (factor("block.scheduler", *LABELS), True),
        (factor("sysctl.vm.dirty_ratio", *LABELS), False),
        (factor("workload.direct", "true", "false"), False),
    ],
)
def test_undecided_study_reports_that_the_disk_was_not_the_limit(varied, message) -> None:
    experiment = study(varied, workloads=("file-writes",))
    trials = [saw(row, **ONE_CORE) for row in rows(experiment, effects=EQUAL, noise=0.2)]
    own = build_report(experiment, study_row(experiment), trials)
    assert own.workloads[0].results[1].verdict is Verdict.INCONCLUSIVE
    no_part = "loop0 was busy at most 6 % of the time, so no disk setting can make a difference"
    assert any(no_part in said for said in own.answer) is message
    assert any("No difference was possible" in step.text for step in own.next_steps) is message


def test_potential_of_a_faster_disk_is_listed_with_the_evidence() -> None:
    most = "A faster loop0 saves at most the 6 % of the time with requests"
    assert most in markdown.render(two(**ONE_CORE))
    assert "A faster loop0 saves" not in markdown.render(two(util=97.0))


def test_bottleneck_of_few_trials_has_no_potential() -> None:
    experiment = study(factor("block.scheduler", "none"), workloads=("file-writes",))
    trials = rows(experiment, blocks=5)
    trials[:3] = [saw(row, **ONE_CORE) for row in trials[:3]]
    (limits,) = build_report(experiment, study_row(experiment), trials).limits
    assert (limits.limit, limits.no_help) == (Bottleneck.CORE, "")


def test_the_next_step_is_a_load_that_can_show_a_difference() -> None:
    (step,) = [
        own for own in two(**ONE_CORE).next_steps if "No difference was possible" in own.text
    ]
    assert "load: {workload.jobs: [1, 2, 4, 8]}" in step.text


def test_every_limit_has_its_advice_and_no_other() -> None:
    assert set(REMEDIES) == set(Bottleneck)


def test_external_disturbance_is_flagged_and_the_trial_counts() -> None:
    experiment = study(factor("block.scheduler", *LABELS), workloads=("file-writes",))
    trials = rows(experiment, effects=EQUAL)
    assert trials[0].summary is not None
    machine = {**trials[0].summary.machine, "%steal": 40.0}
    loop = {**trials[0].summary.devices["loop0"], "%util": 10.0}
    summary = replace(trials[0].summary, machine=machine, devices={"loop0": loop})
    trials[0] = replace(trials[0], summary=summary)
    report = build_report(experiment, study_row(experiment), trials)
    (own,) = report.disturbed
    assert (own.disturbance, own.trials) == (DisturbanceSource.STEAL, 1)
    assert report.trials[0].counts
    assert "the hypervisor in 1 trial" in markdown.render(report)
    assert any("1 trial was disturbed by the hypervisor" in step.text for step in report.next_steps)


def test_a_timeline_is_that_of_the_typical_trial(tmp_path: Path) -> None:
    report = with_samples(tmp_path)
    own = report.limits[0]
    assert own.timeline is not None
    assert len(own.timeline.seconds) == 60
    by_name = {series.name: series.values for series in own.timeline.series}
    assert set(by_name) == {"busy", "CPUs", "busiest core", "dirty pages"}
    assert by_name["busy"] == pytest.approx([50.0] * 60)
    assert by_name["CPUs"] == pytest.approx([25.0] * 60)
    assert by_name["busiest core"] == pytest.approx([90.0] * 60)
    assert by_name["dirty pages"] == pytest.approx([20.0] * 60)
    (drawn, _) = build_timeline_charts(report.workloads[0], report)
    assert "loop0 busy 50 to 50 %" in drawn.alternative


def test_a_state_that_the_kernel_counts_back_leaves_no_gap_in_a_timeline() -> None:
    whole = samples()
    iowait = whole.columns["cpu.iowait"].copy()
    iowait[:300] += 5  # proc_stat(5): it may decrease
    changed = Samples(whole.seconds, {**whole.columns, "cpu.iowait": iowait})
    found = build_timeline(changed, ("loop0",))
    assert found is not None
    shares = {series.name: series.values for series in found.series}["CPUs"]
    assert shares == pytest.approx([25.0] * 60)


def test_short_trial_has_no_timeline(tmp_path: Path) -> None:
    whole = samples()
    ends = {name: values[[0, 4]] for name, values in whole.columns.items()}
    for number in range(1, 17):
        write_samples(tmp_path, number, Samples(whole.seconds[[0, 4]], ends))
    report = recorded_report(tmp_path, Samples(whole.seconds[[0, 4]], ends))
    assert all(own.timeline is None for own in report.limits)
    assert list(build_timeline_charts(report.workloads[0], report)) == []
    why = "No timeline of 2 configurations: the trial was too short."
    assert why in markdown.render(report)


@pytest.mark.parametrize("harm", ["gone", "cut short", "scrambled"])
def test_damaged_samples_file_is_named_instead_of_a_timeline(tmp_path: Path, harm: str) -> None:
    with_samples(tmp_path)
    for path in (tmp_path / "telemetry").iterdir():
        whole = path.read_bytes()
        changed = {"cut short": whole[:-20], "scrambled": b"PAR1" + whole[::-1][4:]}
        path.unlink() if harm == "gone" else path.write_bytes(changed[harm])
    report = recorded_report(tmp_path)
    assert all(own.timeline is None for own in report.limits)
    assert re.search(r"No timeline of 2 configurations: \S+\.npz: ", markdown.render(report))


def test_samples_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = write_samples(tmp_path, 1, samples())
    read = read_samples(tmp_path, file, ("disk.loop0.", "vm."))
    assert set(read.columns) == {own for own in samples().columns if own[:3] in ("dis", "vm.")}
    np.testing.assert_array_equal(
        read.columns["disk.loop0.io_ms"], samples().columns["disk.loop0.io_ms"]
    )
    file = write_samples(tmp_path, 2, Samples(np.array([0.0]), {}))
    with pytest.raises(LedgerError, match="no time series"):
        read_samples(tmp_path, file, ("vm.",))


def test_samples_of_another_trial_are_refused(tmp_path: Path) -> None:
    first = write_samples(tmp_path, 1, samples())
    second = write_samples(tmp_path, 2, Samples(np.arange(3.0), {}))
    (tmp_path / first.name).write_bytes((tmp_path / second.name).read_bytes())
    with pytest.raises(LedgerError, match="its checksum differs from the recorded one"):
        read_samples(tmp_path, first, ("vm.",))


def samples() -> Samples:
    """A minute at 10 Hz in which everything is the same all the time."""
    at = np.arange(601) / 10
    ticks = np.arange(601) * 10.0
    columns = {
        "disk.loop0.io_ms": np.arange(601) * 50.0,
        "cpu.user": ticks / 4,
        **{f"cpu.{name}": ticks * 0 for name in ("nice", "system", "iowait", "irq", "softirq")},
        "cpu.idle": ticks * 3 / 4,
        "cpu.0.busy": ticks * 0.9,
        "cpu.0.idle": ticks * 0.1,
        "cpu.1.busy": ticks * 0.1,
        "cpu.1.idle": ticks * 0.9,
        "vm.nr_dirty": ticks * 0 + 200,
        "vm.nr_writeback": ticks * 0 + 100,
        "vm.nr_dirty_threshold": ticks * 0 + 2000,
        "vm.nr_dirty_background_threshold": ticks * 0 + 1000,
    }
    return Samples(at, columns)


def with_samples(folder: Path) -> Report:
    for number in range(1, 17):
        write_samples(folder, number, samples())
    return recorded_report(folder)


def recorded_report(folder: Path, written: Samples | None = None) -> Report:
    """The report of a study whose trials all recorded the same samples."""
    experiment = study(factor("block.scheduler", *LABELS), workloads=("file-writes",))
    (folder / "model").mkdir(exist_ok=True)
    sha256 = write_samples(folder / "model", 1, written or samples()).sha256
    found = [
        replace(row, telemetry=replace(row.telemetry, sha256=sha256))
        for row in rows(experiment, effects=EQUAL)
    ]
    return build_report(
        experiment,
        study_row(experiment),
        found,
        samples=lambda name, columns: read_samples(folder, name, columns),
    )


def test_number_of_timelines_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bottlenecks, "MOST_TIMELINES", 1)
    first, second = with_samples(tmp_path).limits
    assert first.timeline is not None
    assert second.timeline is None
    assert second.no_timeline


def test_volume_and_members_are_listed_together() -> None:
    experiment = study(factor("block.scheduler", "none"), workloads=("file-writes",))
    moving = {"r/s": 0.0, "rrqm/s": 0.0, "r_await": 0.0, "rkB/s": 0.0, "aqu-sz": 1.0, "%util": 50.0}
    moving |= {"wkB/s": 4000.0, "w_await": 1.0, "f/s": 0.0, "f_await": 0.0, "wrqm/s": 0.0}
    disks = {"dm-0": {**moving, "w/s": 1000.0}}
    disks |= {name: {**moving, "w/s": 50.0, "wrqm/s": 450.0} for name in ("sda", "sdb")}
    trials = [
        replace(row, devices=("dm-0",), summary=replace(row.summary, devices=disks))
        for row in rows(experiment)
        if row.summary is not None
    ]
    devices = {"dm-0": {"slaves": ["sda", "sdb"]}, "sda": {"slaves": []}, "sdb": {"slaves": []}}
    report = build_report(
        experiment, study_row(experiment, {"host": {"block_devices": devices}}), trials
    )
    text = markdown.render(report)
    assert "| none | writes | dm-0 | 1000 | 1000 | 1.00 |" in text
    assert "| none | writes | sda, sdb | 1000 | 100 | 10.0 |" in text


def test_a_volume_on_a_partition_lies_on_the_disk_of_that() -> None:
    options = catalog.get("io").options()
    volume, disk = {"slaves": ["sda3"]}, {"partitions": ["sda1", "sda3"], "rotational": True}
    host = {"block_devices": {"dm-0": volume, "sda": disk}}
    ground = build_run_context({"host": host}, ("dm-0",), "io", options, {})
    assert ground.is_rotational("dm-0")
