"""Limit of the load in a study file: units, settings, and what it does not go together with."""

from __future__ import annotations

import pytest

from iostudy.study.mode import describe_mode
from tests.study.files import GOOD, JOB, ON_HADOOP, READS, WRITES, add_job, problems, read

LIMIT = "limit: {rate: 50MiB/s, iops: 200, duration: 30s}\n"


def test_a_limit_holds_for_reads_and_for_writes() -> None:
    limit = read(GOOD + LIMIT).limit
    assert limit.settings == {
        "cgroup.rbps": str(50 << 20),
        "cgroup.wbps": str(50 << 20),
        "cgroup.riops": "200",
        "cgroup.wiops": "200",
    }
    assert limit.duration == 30
    assert limit.describe() == "50MiB/s, 200 operations/s, 30.0 s a run"


def test_a_study_without_a_limit_has_no_settings() -> None:
    limit = read(GOOD).limit
    assert (limit.settings, limit.duration, limit.describe()) == ({}, None, "")


@pytest.mark.parametrize(
    ("limit", "line", "message"),
    [
        ("{rate: fast}", 9, "not a size"),
        ("{rate: 1KiB}", 9, "out of range"),
        ("{iops: 0}", 9, "1 to 4294967295"),
        ("{duration: 0s}", 9, "more than 0"),
        ("{speed: 50MiB}", 9, "speed"),
    ],
)
def test_invalid_limits_are_refused(limit: str, line: int, message: str) -> None:
    (problem,) = problems(GOOD + f"limit: {limit}\n")
    assert problem.line == line
    assert message in f"{problem.message} {problem.found} {problem.allowed}"


def test_a_factor_and_the_limit_do_not_share_a_setting() -> None:
    text = GOOD.replace("block.scheduler: [none, bfq]", "cgroup.wbps: [10MiB, 20MiB]") + LIMIT
    (problem,) = problems(text)
    assert "a factor and a limit of the load" in problem.message
    assert problem.found == "cgroup.wbps"


@pytest.mark.all_plugins
def test_the_disks_of_a_cluster_are_out_of_reach() -> None:
    found = problems(GOOD.replace("/data/scratch", "hdfs://name:8020/bench") + LIMIT)
    assert any("limit its DataNodes instead" in problem.message for problem in found)


@pytest.mark.all_plugins
def test_the_daemons_of_a_cluster_are_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    add_job(monkeypatch)
    found = problems(ON_HADOOP + LIMIT)
    assert any(
        "it does not reach hadoop, which outlives a trial" in problem.message for problem in found
    ), JOB


@pytest.mark.parametrize("factor", ["", "  workload.duration: [10s, 1min]\n"])
def test_a_workload_with_a_longer_duration_than_the_limit(factor: str) -> None:
    workload = "io: {duration: 10s}" if factor else "io: {duration: 1min}"
    text = GOOD.replace("block.scheduler: [none, bfq]\n", f"block.scheduler: [none, bfq]\n{factor}")
    text = text.replace(f"{WRITES}", workload)
    text = text.replace(f"  - {READS}\n", "")
    (problem,) = problems(text + LIMIT)
    assert "a workload runs for 1 min 00 s, longer than the limit" in problem.message


def test_windows_are_not_limited() -> None:
    text = GOOD.replace("decide: {", "decide: {mode: auto, ")
    assert "a limit of the load holds for each trial" in describe_mode(read(text + LIMIT))
