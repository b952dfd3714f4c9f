"""Counters of jobs, as clients of Hadoop 2.x and 3.x print them."""

from __future__ import annotations

import re

import pytest

from iostudy_hadoop.tools.counters import NoCountersError, describe_problems, parse
from tests.plugins.hadoop.tools.samples import sample

FILES = "File System Counters"


def log(name):
    return sample(f"log-{name}")


def test_a_job_on_yarn_has_its_name_time_tasks_and_counters():
    (job,) = parse(log("teragen-3.4.2-yarn"))
    assert job.name == "job_1795286384047_0001"
    assert not job.is_local
    assert (job.maps, job.reduces()) == (2, 0)
    assert job.seconds == pytest.approx(31.349)
    assert job.count(FILES, "HDFS: Number of bytes written") == 2_000_000
    assert job.count("Job Counters", "Launched map tasks") == 2
    assert job.count("Map-Reduce Framework", "CPU time spent (ms)") == 1330
    checksum = "org.apache.hadoop.examples.terasort.TeraGen$Counters"
    assert job.count(checksum, "CHECKSUM") == 43014550810196
    assert job.count("File Output Format Counters", "Bytes Written") == 2_000_000
    assert job.count(FILES, "S3A: Number of bytes written") is None
    assert job.failure is None


def test_a_job_of_the_local_runner_has_those_of_its_tasks_as_well():
    (job,) = parse(log("dfsio-3.4.2-local"))
    assert job.is_local
    assert (job.maps, job.reduces()) == (3, 1)
    written = [task[FILES]["HDFS: Number of bytes written"] for task in job.tasks]
    assert written == [4194640, 8388944, 12583248, 12583322]
    assert job.count(FILES, "HDFS: Number of bytes written") == sum(written)
    assert describe_problems([job]) == ()


def test_jobs_are_listed_in_order():
    both = log("teragen-3.4.2-yarn") + log("dfsio-3.4.2-local") + log("teragen-3.4.2-local")
    jobs = parse(both)
    assert [job.maps for job in jobs] == [2, 3, 1]
    assert [len(job.tasks) for job in jobs] == [0, 4, 1]
    assert jobs[1].name != jobs[2].name


def test_an_output_without_jobs_has_none():
    assert parse("Exception in thread main\n\tat somewhere\n") == ()


def test_failed_job_is_reported_with_its_reason():
    (job,) = parse(log("failed-3.4.2-yarn"))
    assert job.failure == "Task failed task_1795286384047_0002_m_000000"
    assert describe_problems([job]) == (f"job_1795286384047_0002 failed: {job.failure}",)


def test_an_attempt_that_was_killed_before_it_began_is_no_matter():
    """Speculation asks for attempts that it takes back when the task ends first."""
    (job,) = parse(log("teragen-3.4.2-yarn"))
    assert job.count("Job Counters", "Killed map tasks") == 1
    assert describe_problems([job]) == ()


@pytest.mark.parametrize(
    ("counter", "message"),
    [
        ("Failed map tasks", "1 attempts of map tasks failed"),
        ("Failed reduce tasks", "1 attempts of reduce tasks failed"),
    ],
)
def test_failed_tasks_are_unsound(counter, message):
    text = log("teragen-3.4.2-yarn").replace("Killed map tasks", counter)
    assert describe_problems(parse(text)) == (f"job_1795286384047_0001: {message}",)


def test_speculative_duplicates_are_unsound():
    text = log("teragen-3.4.2-yarn").replace("Launched map tasks=2", "Launched map tasks=3")
    (reason,) = describe_problems(parse(text))
    assert "1 attempts more than the 2 map tasks were started" in reason


def test_killed_attempts_are_unsound_where_nobody_knows_how_many_tasks_there_are():
    text = re.sub("number of splits:.*", "", log("teragen-3.4.2-yarn"))
    (reason,) = describe_problems(parse(text))
    assert reason.endswith("1 attempts of map tasks were killed")


def test_counters_that_are_cut_off_are_refused():
    whole = log("teragen-3.4.2-yarn").splitlines(keepends=True)
    with pytest.raises(NoCountersError, match="35 counters are announced, and 34 follow"):
        parse("".join(whole[:-1]))


def test_a_job_without_counters_is_refused():
    text = log("teragen-3.4.2-yarn")
    with pytest.raises(NoCountersError, match="job_1795286384047_0001 has ended"):
        parse(text.partition("Counters: 35")[0])
    with pytest.raises(NoCountersError, match="not reported"):
        parse(text.partition("Counters: 35")[0] + log("teragen-3.4.2-local"))


def test_times_of_hadoop_2_are_understood():
    text = re.sub(
        r"^20(\d\d)-(\d\d)-(\d\d) (\S+),\d{3} ",
        r"\1/\2/\3 \4 ",
        log("teragen-3.4.2-yarn"),
        flags=re.M,
    )
    assert parse(text)[0].seconds == 32.0


def test_a_log_without_times_gives_none():
    text = re.sub(r"^20\S+ \S+ ", "", log("teragen-3.4.2-yarn"), flags=re.M)
    assert parse(text)[0].seconds is None


def test_a_job_of_hadoop_2_on_yarn():
    (job,) = parse(log("wordcount-2.2-yarn"))
    assert (job.maps, job.reduces(), job.seconds) == (4, 5, 42.0)
    assert job.count("Map-Reduce Framework", "Spilled Records") == 67418820
    assert describe_problems([job]) == ()


@pytest.mark.parametrize(
    ("name", "tasks", "attempts"), [("terasort-2.7.7", (1, 2), 3), ("wordcount-2.10.2", (1, 1), 2)]
)
def test_jobs_of_hadoop_2_in_the_local_runner(name, tasks, attempts):
    (job,) = parse(log(f"{name}-local"))
    assert (job.maps, job.reduces()) == tasks
    assert len(job.tasks) == attempts
    assert describe_problems([job]) == ()
