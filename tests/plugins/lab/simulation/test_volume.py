"""Tests of simulated volumes: stripes and mirrors over modelled drives."""

from __future__ import annotations

import pytest

from iostudy.errors import SettingError, StudyError, TargetError
from iostudy.node.protocol import TrialResult
from iostudy.study.parser import parse
from iostudy.workloads.tick import continue_run
from iostudy_lab.simulation.node import DEVICE, SimulatedNode, drive_names
from iostudy_lab.study.target import SimulatedTarget

TEXT = """\
question: Which?
target:
  volume:
    kind: lvm-mirror
    devices: {drive: {model: ultrastar-7k8, size: 1GiB, count: 4}}
    simulated: true
factors: {volume.kind: [lvm-mirror, lvm-raid10, lvm-striped, lvm-one-disk]}
workloads:
  - io: {label: reads, order: random, jobs: 8, size: 4MiB, record_size: 4KiB, direct: true,
         total: 400KiB}
  - io: {label: writes, operation: write, overwrite: true, size: 4MiB, record_size: 4KiB,
         direct: true, engine: io_uring, depth: 256}
decide: {margin: 5%, risk: 5%, blocks: [3, 4]}
"""


def run(workload: str, kind: str, text: str = TEXT) -> TrialResult:
    study = parse(text, where="study.yaml", name="study")
    assert isinstance(study.target, SimulatedTarget)
    (request,) = (own for own in study.workloads if own.label == workload)
    (chosen,) = (own for own in study.configurations() if own.label == kind)
    with (
        SimulatedNode(study.target, continue_run) as node,
        node.block(request, 7) as block,
    ):
        return block.trial(chosen)


def per_drive(result: TrialResult, figure: str) -> list[float]:
    devices = result.telemetry.summary.devices
    return [devices[name][figure] for name in drive_names(4)]


def test_a_mirror_reads_from_its_first_copies_and_raid10_from_all() -> None:
    mirror, raid10 = (per_drive(run("reads", kind), "r/s") for kind in ("lvm-mirror", "lvm-raid10"))
    assert mirror[0] > 0 and mirror[2] > 0
    assert (mirror[1], mirror[3]) == (0, 0)
    assert all(own > 0 for own in raid10)


def test_writes_go_to_both_copies_and_are_merged_below_the_volume() -> None:
    result = run("writes", "lvm-mirror")
    summary = result.telemetry.summary
    written = per_drive(result, "wkB/s")
    assert written[0] == written[1] > 0
    assert sum(written) == pytest.approx(2 * summary.devices[DEVICE]["wkB/s"])
    above = summary.devices[DEVICE]["w/s"]
    assert summary.devices[DEVICE]["wrqm/s"] == 0
    # Counted merges are those of requests of the volume; merged requests may be merged again.
    assert sum(per_drive(result, "w/s")) + sum(per_drive(result, "wrqm/s")) <= 2 * above
    assert sum(per_drive(result, "w/s")) < above
    assert summary.below == {DEVICE: drive_names(4)}


def test_one_drive_of_a_volume_is_the_drive() -> None:
    head, tail = TEXT.index("  volume:"), TEXT.index("workloads:")
    drive = (
        f"{TEXT[:head]}  drive: {{model: ultrastar-7k8, size: 1GiB, simulated: true}}\n"
        f"factors: {{block.scheduler: [mq-deadline, none]}}\n{TEXT[tail:]}"
    )
    alone, volume_result = run("reads", "mq-deadline", drive), run("reads", "lvm-one-disk")
    # Only the place of the files differs, since the end of a volume is cut off at a chunk.
    assert volume_result.figures["iops"] == pytest.approx(alone.figures["iops"], rel=0.1)
    assert not volume_result.telemetry.summary.below


def test_stripes_serve_more_random_reads_than_a_drive() -> None:
    striped, alone = run("reads", "lvm-striped"), run("reads", "lvm-one-disk")
    assert striped.figures["iops"] > 2 * alone.figures["iops"]


def test_a_failing_drive_slows_the_volumes_that_use_it() -> None:
    failing = TEXT.replace("count: 4", "count: 4, last: failing-7k8")
    healthy, slow = (run("reads", "lvm-striped", text).figures["iops"] for text in (TEXT, failing))
    assert slow < 0.8 * healthy
    unused = (run("reads", "lvm-one-disk", text).figures["iops"] for text in (TEXT, failing))
    assert len(set(unused)) == 1


def test_a_layout_without_a_simulation_is_refused() -> None:
    study = parse(TEXT.replace("lvm-striped", "lvm-raid5"), where="study.yaml", name="study")
    assert isinstance(study.target, SimulatedTarget)
    with SimulatedNode(study.target, continue_run) as node:
        refused = node.preflight(study.workloads, study.configurations())
    assert list(refused) == ["lvm-raid5"]
    assert isinstance(refused["lvm-raid5"], SettingError)
    assert "use lvm-mirror, lvm-raid10 or md-raid10" in refused["lvm-raid5"].found


def test_only_volumes_have_layouts() -> None:
    for old, new, words in (
        ("simulated: true", "simulated: true\n    filesystem: ntfs", "filesystem"),
        ("count: 4", "count: 3", "needs at least 4 disks"),
    ):
        with pytest.raises(StudyError, match=words):
            parse(TEXT.replace(old, new), where="study.yaml", name="study")


def test_files_have_the_room_of_the_volume() -> None:
    striped = TEXT.replace("[lvm-mirror, lvm-raid10, lvm-striped, lvm-one-disk]", "[lvm-striped]")
    large = striped.replace("jobs: 8, size: 4MiB", "jobs: 8, size: 300MiB")
    study = parse(large, where="study.yaml", name="study")
    assert isinstance(study.target, SimulatedTarget)
    node = SimulatedNode(study.target, continue_run)
    assert node.preflight(study.workloads, study.configurations()) == {}
    mirror = parse(
        large.replace("lvm-striped", "lvm-mirror"), where="study.yaml", name="study"
    ).configurations()
    with pytest.raises(TargetError, match="GiB are free"):
        node.preflight(study.workloads, mirror)


def test_what_a_file_system_has_is_refused_with_a_message() -> None:
    text = TEXT.replace("factors: {", "factors: {filesystem.journal: ['on', 'off'], ")
    with pytest.raises(StudyError, match="simulation knows"):
        parse(text, where="study.yaml", name="study")
