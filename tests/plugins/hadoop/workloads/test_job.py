"""Programs of Hadoop's with something in Java's place: what they say, and how they are ended."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from iostudy.errors import ClusterError, UsageError, WorkloadError, WorkloadStoppedError
from iostudy.workloads.workload import Place
from iostudy_hadoop.workloads import job

pytestmark = pytest.mark.child

LOGS = Path(__file__).parents[1] / "tools/samples"


def run(place, limit=20.0):
    return job.run_program(place, "a.b.Main", "-n", "3", limit_seconds=limit)


def test_arguments_options_and_environment_reach_the_program(make, calls, tmp_path):
    ran = run(make('echo "$HADOOP_CONF_DIR"'))
    assert ran.ended.stdout.text == f"{tmp_path}\n"
    (called,) = calls()
    assert called.startswith("-Xmx99m -Dlog4j.configuration=file:")
    assert called.endswith(
        f"-cp {tmp_path}:/jars/* a.b.Main -Dmapreduce.client.progressmonitor.pollinterval=100 -n 3"
    )
    assert ran.jobs == ()


def test_jobs_are_reported_with_their_time(make):
    ran = run(make(f"cat {LOGS}/log-teragen-3.4.2-yarn >&2"))
    assert [each.maps for each in ran.jobs] == [2]
    assert ran.times()["job_time"] == pytest.approx(31.349)
    assert 0 < ran.times()["program_time"] < 20


def test_a_job_without_a_time_gives_no_figures(make):
    ran = run(make(f"sed 's/^2026-[^ ]* [^ ]* //' {LOGS}/log-teragen-3.4.2-yarn >&2"))
    with pytest.raises(WorkloadError, match="1 jobs, of which 0 have one"):
        ran.times()


def test_a_place_without_a_cluster_is_refused(tmp_path):
    with pytest.raises(UsageError, match="`hadoop` section"):
        run(Place(tmp_path, seed=1))


def test_failure_quotes_the_first_exceptions(make):
    with pytest.raises(WorkloadError) as caught:
        run(make(f"cat {LOGS}/log-failed-3.4.2-yarn >&2; exit 254"))
    found = caught.value.found
    assert found.startswith(
        "it ended with exit code 254; it printed: Error: java.io.FileNotFoundException: "
        "File does not exist: /study/nodfsio/io_data/test_io_0 / Caused by: "
    )
    assert found.count("FileNotFoundException") == 2


def test_failure_without_exceptions_quotes_the_last_lines(make):
    with pytest.raises(WorkloadError, match="code 1; it printed: no such thing"):
        run(make("echo no such thing >&2; exit 1"))


def test_an_unsound_job_is_invalid_though_its_program_succeeds(make):
    with pytest.raises(WorkloadError, match=r"failed: Task failed (?s:.)*it is invalid"):
        run(make(f"cat {LOGS}/log-failed-3.4.2-yarn >&2"))


def test_unreadable_counters_are_reported(make):
    with pytest.raises(WorkloadError, match="34 follow"):
        run(make(f"head -n -1 {LOGS}/log-teragen-3.4.2-yarn >&2"))


def test_jobs_without_a_logged_start_are_not_skipped(make, monkeypatch):
    monkeypatch.setattr(job.program, "KEPT_BYTES", 4096)
    twice = f"cat {LOGS}/log-teragen-3.4.2-yarn {LOGS}/log-teragen-3.4.2-yarn >&2"
    with pytest.raises(WorkloadError, match=r"at most 4KiB, (?s:.)*fewer jobs"):
        run(make(twice))


def test_dead_cluster_ends_the_run_at_once_and_is_the_reported_cause(make):
    begun = time.monotonic()

    def alive():
        if time.monotonic() > begun + 0.5:
            raise ClusterError("a DataNode", found="it has ended", where="here", remedy="see")

    with pytest.raises(ClusterError, match="it has ended"):
        run(make("sleep 600", alive=alive))
    assert time.monotonic() - begun < 600


def test_failure_by_a_dead_cluster_names_the_cluster(make):
    calls = []

    def alive():
        calls.append(1)
        if len(calls) > 1:
            raise ClusterError("a NameNode", found="it has ended", where="here", remedy="see")

    with pytest.raises(ClusterError, match="it has ended"):
        run(make("exit 1", alive=alive))


def test_successful_run_kills_nothing(make, calls):
    run(make("true", yarn=True))
    assert len(calls()) == 1


@pytest.mark.parametrize("does", ["exit 1", "sleep 60"])
def test_failed_or_hanging_job_is_killed_in_yarn(make, calls, does):
    with pytest.raises(WorkloadError):
        run(make(does, yarn=True), limit=1.0)
    assert " -list -appTags study " in calls()[1]
    assert calls()[2].endswith("-kill application_17_0002")


def test_stopped_job_is_killed_in_yarn(make, calls):
    with pytest.raises(WorkloadStoppedError):
        run(make("sleep 60", yarn=True, tick=lambda _: len(calls()) < 1))
    assert "-kill application_17_0002" in calls()[2]


def test_signal_kills_the_job_in_yarn(make, calls):
    def tick(_):
        if calls():
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        run(make("sleep 60", yarn=True, tick=tick))
    assert "-kill application_17_0002" in calls()[2]


def test_failed_kill_is_reported_with_the_failure(make):
    also = "and to kill the jobs with the tag study in YARN was not possible"
    with pytest.raises(WorkloadError, match=f"code 1; .*{also}"):
        run(make("exit 1", yarn=True, yarn_status=3))


def test_the_local_runner_has_nothing_to_kill(make, calls):
    with pytest.raises(WorkloadError):
        run(make("exit 1"))
    assert len(calls()) == 1
